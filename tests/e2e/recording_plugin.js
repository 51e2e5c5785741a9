// A plain OpenCode plugin for tests: writes down what it is told, and answers as its options say.
// Options: {log, answers: [{hook, containing, throw?, args?, output?, append?, push?}]}
import { appendFileSync } from "node:fs"

export const RecordingPlugin = async ({ client, directory }, options) => {
  const record = (hook, input, output) =>
    appendFileSync(options.log, JSON.stringify({ hook, input, output }) + "\n")
  const answer = (hook, input, output) => {
    record(hook, input, output)
    const text = JSON.stringify([input, output])
    for (const one of options.answers) {
      if (one.hook !== hook || !text.includes(one.containing ?? "")) continue
      if (one.throw) throw new Error(one.throw)
      if (one.args) Object.assign(output.args, one.args)
      if (one.reassign) output.args = one.reassign
      if (one.output) output.output = one.output
      if (one.append) output.text += one.append
      if (one.context) output.context.push(one.context)
      if (one.system) output.system.push(one.system)
      if (one.status) output.status = one.status
    }
  }
  record("init", { directory }, options.answers)
  const awaited = [
    "chat.message", "chat.params", "tool.execute.before", "tool.execute.after", "permission.ask",
    "experimental.chat.system.transform", "experimental.session.compacting", "experimental.text.complete",
    "experimental.compaction.autocontinue",
  ]
  return {
    event: async ({ event }) => {
      record("event", event)
      const reply = options.answers.find((one) => one.hook === "permission.asked")
      if (reply && event.type === "permission.asked") {
        await client.postSessionIdPermissionsPermissionId({
          path: { id: event.properties.sessionID, permissionID: event.properties.id },
          body: { response: reply.response },
        })
      }
    },
    ...Object.fromEntries(awaited.map((hook) => [hook, async (input, output) => answer(hook, input, output)])),
  }
}
