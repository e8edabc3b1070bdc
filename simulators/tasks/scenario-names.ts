// Scenarios of a task's creation, in addition to the faults of every call.
import type { ScenarioName } from '../kernel/scenario.ts'
import { flag, number, text } from '../kernel/scenario-names.ts'

export const TASK_SCENARIOS: ScenarioName[] = [
  number('queue-time', 'a task waits this many ms (scaled) before it runs'),
  number('run-time', 'a task runs for this many ms (scaled)'),
  number('polls', 'a task ends at its Nth poll, regardless of the clock'),
  flag('moderation', 'the text of the task is refused when it is created'),
  text('fail-task', 'the task is accepted and fails later; takes the code of its error'),
  flag('never-ends', 'the task runs until it expires, or forever without an expiry'),
  number('lost-answer', 'the task is accepted, and the answer to its creation is this HTTP status'),
  number('poll-storm', 'the first N polls of the task are answered 429'),
  number('poll-errors', 'the first N polls of the task are answered 500'),
  flag('vanishes', 'the record of the task is gone when it has ended, though it was billed'),
  flag('flips', 'an ended task is reported succeeded and failed in turn'),
  flag('no-result', 'the task succeeds but its answer names no file'),
  text('callbacks', 'none, twice or late: callbacks are not sent, repeated, or sent 60 s late'),
  number('media-seconds', 'the assumed length of a referenced recording or video'),
]
