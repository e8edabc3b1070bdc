/**
 * Named points at which a test can kill the process: `TRIBUTARY_FAIL=task-sent:3` ends it with
 * SIGKILL when that point is reached for the third time. Without the variable nothing is counted.
 */
const [failingName, failingPass = '1'] = (process.env.TRIBUTARY_FAIL ?? '').split(':')
let passes = 0

export function failpoint(name: string): void {
  if (failingName !== name) return
  passes += 1
  if (passes === Number(failingPass)) process.kill(process.pid, 'SIGKILL')
}
