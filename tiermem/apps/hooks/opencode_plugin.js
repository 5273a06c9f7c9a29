// Written by `tiermem hook install opencode`; `tiermem hook uninstall opencode` removes it.
// OpenCode loads it, by `setup` in version 2 and by `server` in version 1, and it runs the hook of TierMem
// when the agent of a session stops. It gives the agent nothing, and changes nothing in OpenCode.
import { spawn } from "node:child_process"

const [program, ...given] = COMMAND
const ends = new Set(EVENTS)

function runHook(event, directory) {
  const { sessionID } = event.data ?? event.properties ?? {}
  if (!ends.has(event.type) || typeof sessionID !== "string") return
  const cwd = event.location?.directory ?? directory
  return new Promise((resolve) => {
    const hook = spawn(program, given, { stdio: ["pipe", "ignore", "ignore"] })
    // OpenCode goes on where the hook cannot be run, as when TierMem was removed.
    hook.on("error", resolve)
    hook.on("close", resolve)
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify({ hook_event_name: "Stop", session_id: sessionID, cwd }))
  })
}

async function readEvents(events) {
  for await (const event of events) await runHook(event)
}

export default {
  id: "tiermem",
  async setup(ctx) {
    const stopped = new AbortController()
    const events = await ctx.event.subscribe({ signal: stopped.signal })
    // A stream that ends with an error, as an aborted one may, must not end OpenCode.
    readEvents(events).catch(() => {})
    return () => stopped.abort()
  },
  async server({ directory }) {
    return { event: ({ event }) => runHook(event, directory) }
  },
}
