// Loaded before the tests of a process.
import hooks from 'node:async_hooks'

// The process is ended after its last test, and what a pipe has not taken by then is lost: the end
// of the report, and with it the reason of a failure. Node has no public function for writes that
// wait.
process.stdout._handle?.setBlocking?.(true)

// The test runner follows every promise and socket, to know to which suite a declared test belongs.
// That takes a fifth of the processor time of a call. Once all tests are declared, which is when
// `before` runs, nothing depends on it but the name of the test beside an error that nobody caught.
const { createHook } = hooks
const created = Promise.withResolvers()
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook
  const hook = createHook(callbacks)
  created.resolve(hook)
  return hook
}
// The module takes the function from there when it is loaded, and not before.
const { before } = await import('node:test')
before(async () => (await created.promise).disable())
// Such an error fails the process; the report has what it wrote there.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => console.error(error))
}
