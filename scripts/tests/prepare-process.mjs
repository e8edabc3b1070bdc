// Loaded before the tests of a process.
import hooks from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

const START = 'tracing:node.test:start'

// The process is ended after its last test, and what a pipe has not taken by then is lost: the end
// of the report, and with it the reason of a failure. Node has no public function for writes that
// wait.
process.stdout._handle?.setBlocking?.(true)

// The test runner follows every promise and socket, to know to which suite a declared test belongs.
// That takes a fifth of the processor time of a call. All tests are declared before the first of
// them starts; from then on only the name of the test beside an uncaught error depends on it.
const { createHook } = hooks
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook
  const hook = createHook(callbacks)
  const onStart = ({ type }) => {
    if (type !== 'test') return
    unsubscribe(START, onStart)
    hook.disable()
  }
  subscribe(START, onStart)
  return hook
}
// Such an error fails the process; the report has what it wrote there.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => console.error(error))
}
