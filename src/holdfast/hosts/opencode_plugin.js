// Holdfast in OpenCode: hands each hook to the local daemon and does what it answers. No dependencies.
// OpenCode knows no hook timeout and loads a broken plugin as none at all, so this file sets its own deadlines, says
// hello at start (the doctor looks for it), and blocks whatever is not known to only read when nobody answers.
const READS = new Set(["read", "list", "glob", "grep", "lsp", "todoread"])
const SHORT = 5_000
const START = 15_000
const WORTH_TELLING = 0.005 // of the window

export const Holdfast = async ({ client, directory, worktree }, options = {}) => {
  const { socket, deadline = 310, start = [] } = options
  const cwd = directory ?? worktree ?? ""
  const guard = process.env.MEMORY_BANK_GUARD_MODE
  const parents = new Map() // child session -> its root session
  const agents = new Map() // child session -> the name of its agent
  const turns = new Map() // session -> id of the user message that is being answered
  const compacting = new Set()
  const measured = new Map() // session -> the fill that was told last
  const untold = new Map() // session -> a fill that had changed too little to be told by itself
  const ahead = new Map() // session -> what its next request has to bring along
  const told = new Set() // calls whose failure was told; an update may come more than once
  let servers = []
  let limits = null
  let starting = null

  const post = async (payload, milliseconds) => {
    const reply = await fetch(`http://localhost/hook/opencode?deadline=${deadline}`, {
      unix: socket,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ cwd, servers, guard, ...payload }),
      signal: AbortSignal.timeout(milliseconds),
    })
    if (!reply.ok) throw new Error(`the daemon answered ${reply.status}`)
    return await reply.json()
  }

  // One start for all hooks that find the daemon gone, and one more try afterwards.
  const revive = async () => {
    if (!start.length) return
    starting ??= (async () => {
      const child = Bun.spawn(start, { stdin: "ignore", stdout: "ignore", stderr: "ignore" })
      await Promise.race([child.exited, new Promise((resolve) => setTimeout(resolve, START))])
    })().finally(() => {
      starting = null
    })
    await starting
  }

  const ask = async (payload, milliseconds = deadline * 1000) => {
    try {
      return await post(payload, milliseconds)
    } catch (error) {
      if (error?.name === "TimeoutError") throw error
      await revive()
      return await post(payload, milliseconds)
    }
  }

  const show = async (message) => {
    if (!message) return
    try {
      await client.tui.showToast({ body: { title: "Holdfast", message, variant: "warning", duration: 10_000 } })
    } catch {
      console.error(`holdfast: ${message}`)
    }
  }

  const tell = async (payload) => {
    try {
      const answer = await ask(payload, SHORT)
      if (answer.notice) void show(answer.notice)
      return answer
    } catch (error) {
      console.error(`holdfast: ${payload.hook}: ${error?.message ?? error}`)
      return {}
    }
  }

  // A sub-agent works in a session of its own; it belongs to the session that started it.
  const rootOf = async (sessionID) => {
    if (!parents.has(sessionID)) {
      let parent
      try {
        parent = (await client.session.get({ path: { id: sessionID } })).data?.parentID
      } catch {
        parent = undefined
      }
      parents.set(sessionID, parent ? await rootOf(parent) : sessionID)
    }
    return parents.get(sessionID)
  }

  const whose = async (sessionID) => {
    const root = await rootOf(sessionID)
    const messageID = turns.get(root) ?? ""
    if (root === sessionID) return { sessionID, messageID }
    return { sessionID: root, messageID, subagent: `${agents.get(sessionID) ?? "agent"}#${sessionID}` }
  }

  const limitOf = async (provider, model) => {
    if (limits === null) {
      limits = new Map()
      try {
        for (const one of (await client.config.providers()).data?.providers ?? []) {
          for (const [id, about] of Object.entries(one.models ?? {})) limits.set(`${one.id}/${id}`, about.limit ?? {})
        }
      } catch {
        limits = null
      }
    }
    return limits?.get(`${provider}/${model}`) ?? {}
  }

  const measure = async (info) => {
    const { input = 0, output = 0, reasoning = 0, cache = {} } = info.tokens ?? {}
    const used = input + (cache.read ?? 0) + (cache.write ?? 0) + output + reasoning
    const known = measured.get(info.sessionID)
    if (!used || info.summary || known === used) return
    const limit = await limitOf(info.providerID, info.modelID)
    const fill = {
      hook: "context.measured",
      ...(await whose(info.sessionID)),
      used,
      window: limit.context,
      output_limit: limit.output,
      model: info.modelID ?? "",
    }
    untold.set(info.sessionID, fill)
    if (known === undefined || Math.abs(used - known) >= WORTH_TELLING * (limit.context ?? 100_000)) {
      await tellFill(info.sessionID)
    }
  }

  const tellFill = async (sessionID) => {
    const fill = untold.get(sessionID)
    if (!fill) return
    untold.delete(sessionID)
    measured.set(sessionID, fill.used)
    await tell(fill)
  }

  void tell({ hook: "plugin.loaded", sessionID: "" })

  return {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },

    "chat.message": async (input, output) => {
      const { sessionID } = input
      ahead.delete(sessionID)
      if (input.agent) agents.set(sessionID, input.agent)
      const parts = (output.parts ?? []).filter((part) => part.type === "text")
      const own = parts.filter((part) => !part.synthetic)
      const root = await rootOf(sessionID)
      if (root === sessionID) turns.set(root, output.message?.id ?? input.messageID ?? "")
      await tell({
        hook: "chat.message",
        ...(await whose(sessionID)),
        model: output.message?.model?.modelID ?? input.model?.modelID ?? "",
        text: (own.length ? own : parts).map((part) => part.text).join("\n"),
        typed: own.length > 0 && root === sessionID,
      })
    },

    "tool.execute.before": async (input, output) => {
      let answer
      try {
        answer = await ask({
          hook: "tool.execute.before",
          ...(await whose(input.sessionID)),
          callID: input.callID,
          tool: input.tool,
          args: output.args,
        })
      } catch (error) {
        if (READS.has(input.tool)) return
        throw new Error(
          `Holdfast itself failed (${error?.message ?? error}), so this call was blocked. Run \`holdfast doctor opencode\`.`,
        )
      }
      if (answer.notice) void show(answer.notice)
      if (answer.deny !== undefined) throw new Error(answer.deny)
      if (answer.allow !== true && !READS.has(input.tool)) throw new Error("Holdfast gave no decision; blocked.")
      // Only changes in place reach the tool.
      if (answer.args) Object.assign(output.args, answer.args)
    },

    "tool.execute.after": async (input, output) => {
      const answer = await tell({
        hook: "tool.execute.after",
        ...(await whose(input.sessionID)),
        callID: input.callID,
        tool: input.tool,
        args: input.args ?? {},
        output: output.output ?? output.content ?? "",
        metadata: { exit: output.metadata?.exit, outputPath: output.metadata?.outputPath },
      })
      if (typeof answer.system === "string") ahead.set(input.sessionID, answer.system)
      const note = answer.context ? `\n\n${answer.context}` : ""
      if (answer.output === undefined && !note) return
      if (output.content) {
        if (answer.output !== undefined) output.content = [{ type: "text", text: answer.output }]
        if (note) output.content.push({ type: "text", text: answer.context })
      } else {
        output.output = (answer.output ?? output.output ?? "") + note
      }
    },

    // Also asked for titles and summaries, which name no session; those get nothing.
    "experimental.chat.system.transform": async (input, output) => {
      if (!input?.sessionID || compacting.has(input.sessionID)) return
      let standing = ahead.get(input.sessionID)
      ahead.delete(input.sessionID)
      standing ??= (await tell({ hook: "chat.system", ...(await whose(input.sessionID)) })).context
      if (standing) output.system.push(standing)
    },

    "experimental.session.compacting": async (input) => {
      compacting.add(input.sessionID)
      ahead.delete(input.sessionID)
      await tell({ hook: "compacting", ...(await whose(input.sessionID)) })
    },

    // While compacting, the text is the summary: what is appended here reaches the working model word for word.
    "experimental.text.complete": async (input, output) => {
      if (!output.text) return
      if (compacting.delete(input.sessionID)) {
        const answer = await tell({ hook: "compacted", ...(await whose(input.sessionID)), summary: output.text })
        if (answer.context) output.text += `\n\n${answer.context}`
      } else {
        void (async () => tell({ hook: "assistant.text", ...(await whose(input.sessionID)), text: output.text }))()
      }
    },

    event: async ({ event }) => {
      const { type, properties } = event
      if (type === "session.created") {
        const { id, parentID } = properties.info ?? {}
        if (id && parentID) parents.set(id, await rootOf(parentID))
        else if (id) {
          parents.set(id, id)
          await tell({ hook: type, sessionID: id })
        }
      } else if (type === "session.compacted" && compacting.delete(properties.sessionID)) {
        await tell({ hook: "compacted", ...(await whose(properties.sessionID)) })
      } else if (type === "session.idle" && (await rootOf(properties.sessionID)) === properties.sessionID) {
        await tellFill(properties.sessionID)
        await tell({ hook: type, ...(await whose(properties.sessionID)) })
      } else if (type === "session.deleted" && properties.info?.id) {
        await tell({ hook: type, ...(await whose(properties.info.id)) })
        for (const known of [parents, agents, turns, measured, untold, ahead]) known.delete(properties.info.id)
      } else if (type === "message.updated" && properties.info?.role === "assistant" && properties.info.time?.completed) {
        await measure(properties.info)
      } else if (type === "message.part.updated" && properties.part?.type === "tool") {
        const { part } = properties
        if (part.state?.status !== "error" || told.has(part.callID)) return
        if (told.size > 10_000) told.clear()
        told.add(part.callID)
        await tell({
          hook: "tool.failed",
          ...(await whose(part.sessionID)),
          callID: part.callID,
          tool: part.tool,
          args: part.state.input ?? {},
          error: part.state.error ?? "",
        })
      }
    },
  }
}
