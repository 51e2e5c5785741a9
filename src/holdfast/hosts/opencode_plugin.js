// Holdfast in OpenCode: hands each hook to the local daemon and does what it answers. No dependencies.
// OpenCode knows no hook timeout and loads a broken plugin as none at all, so this file sets its own deadlines, says
// hello at start (the doctor looks for it), and blocks whatever is not known to only read when nobody answers.
const READS = new Set(["read", "list", "glob", "grep", "todoread"])
const SHORT = 5_000

export const Holdfast = async ({ directory, worktree }, options = {}) => {
  const { socket, deadline = 310_000, start = [] } = options
  const cwd = directory ?? worktree ?? ""
  const parents = new Map()
  let starting = null

  const post = async (payload, patience) => {
    const reply = await fetch("http://localhost/hook/opencode", {
      unix: socket,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ cwd, ...payload }),
      signal: AbortSignal.timeout(patience),
    })
    if (!reply.ok) throw new Error(`the daemon answered ${reply.status}`)
    return await reply.json()
  }

  // One start for all hooks that find the daemon gone, and one more try afterwards.
  const revive = async () => {
    if (!start.length) return
    starting ??= (async () => {
      const child = Bun.spawn(start, { stdin: "ignore", stdout: "ignore", stderr: "ignore" })
      await Promise.race([child.exited, new Promise((resolve) => setTimeout(resolve, SHORT))])
    })().finally(() => {
      starting = null
    })
    await starting
  }

  const ask = async (payload, patience = deadline) => {
    try {
      return await post(payload, patience)
    } catch (error) {
      if (error?.name === "TimeoutError") throw error
      await revive()
      return await post(payload, patience)
    }
  }

  const tell = async (payload) => {
    try {
      return await ask(payload, SHORT)
    } catch (error) {
      console.error(`holdfast: ${payload.hook}: ${error?.message ?? error}`)
      return {}
    }
  }

  const subagent = (sessionID) => {
    const parent = parents.get(sessionID)
    return parent ? { sessionID: parent.root, subagent: parent.agent || sessionID } : { sessionID }
  }

  await tell({ hook: "plugin.loaded", sessionID: "" })

  return {
    "chat.message": async (input, output) => {
      const text = (output.parts ?? [])
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      await tell({
        hook: "chat.message",
        ...subagent(input.sessionID),
        messageID: output.message?.id ?? input.messageID ?? "",
        model: output.message?.model?.modelID ?? "",
        text,
      })
    },

    "tool.execute.before": async (input, output) => {
      let answer
      try {
        answer = await ask({
          hook: "tool.execute.before",
          ...subagent(input.sessionID),
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
      if (answer.deny !== undefined) throw new Error(answer.deny)
      if (answer.allow !== true && !READS.has(input.tool)) throw new Error("Holdfast gave no decision; blocked.")
      // Only changes in place reach the tool.
      if (answer.args) Object.assign(output.args, answer.args)
    },

    "tool.execute.after": async (input, output) => {
      const answer = await tell({
        hook: "tool.execute.after",
        ...subagent(input.sessionID),
        callID: input.callID,
        tool: input.tool,
        args: input.args ?? {},
        output: output.output ?? output.content ?? "",
        metadata: { exit: output.metadata?.exit, outputPath: output.metadata?.outputPath },
      })
      if (answer.output === undefined) return
      if (output.content) output.content = [{ type: "text", text: answer.output }]
      else output.output = answer.output
    },

    event: async ({ event }) => {
      const { type, properties } = event
      if (type === "session.created" || type === "session.updated") {
        const { id, parentID, title } = properties.info ?? {}
        if (parentID && !parents.has(id)) {
          parents.set(id, { root: parents.get(parentID)?.root ?? parentID, agent: title ?? "" })
        } else if (type === "session.created") {
          await tell({ hook: "session.created", sessionID: id, title: title ?? "" })
        }
      } else if (type === "session.compacted") {
        await tell({ hook: type, ...subagent(properties.sessionID) })
      } else if (type === "session.deleted") {
        await tell({ hook: type, ...subagent(properties.info?.id ?? "") })
      } else if (type === "message.part.updated" && properties.part?.type === "tool") {
        const { part } = properties
        if (part.state?.status !== "error") return
        await tell({
          hook: "tool.failed",
          ...subagent(part.sessionID),
          callID: part.callID,
          tool: part.tool,
          args: part.state.input ?? {},
          error: part.state.error ?? "",
        })
      }
    },
  }
}
