// Every fault that any vendor can play, with its description for `GET /sim` and the guide.
import type { ScenarioName } from './scenario.ts'

/** Scenarios by what they take. */
export const flag = nameOf('nothing')
export const number = nameOf('number')
export const text = nameOf('text')

function nameOf(takes: ScenarioName['takes']) {
  return (name: string, description: string): ScenarioName => ({ name, takes, description })
}

export const GENERAL_SCENARIOS: ScenarioName[] = [
  number('delay-head', 'wait this many ms before the response head'),
  number('delay-first-byte', 'send the head at once, then wait this many ms before the body'),
  number('status', "answer this HTTP status with the vendor's own error body"),
  text('error-code', "the vendor's error code or type for status, error-200 and error-mid"),
  text('error-message', 'the message for status, error-200 and error-mid'),
  text('error-form', 'the form of such an error: page, text, empty, cut, type, array'),
  number('retry-after', 'add a retry-after header (seconds) to the error answer'),
  flag('reset-before-head', 'reset the TCP connection instead of answering'),
  flag('close-before-head', 'close the TCP connection instead of answering'),
  number('cut-after-bytes', 'close the connection after this many bytes of the body'),
  number('cut-before-end', 'close the connection this many bytes before the end of the body'),
  number('reset-mid', 'reset the TCP connection after this many events'),
  number('stall-mid', 'send nothing after this many events, with the socket open'),
  flag('endless', 'repeat the generated events forever'),
  number('bad-chunk', 'event number N is cut in half: its JSON does not parse'),
  text(
    'usage',
    'absent, null, zero, wrong, double, twice, shrinking, negative, string, float, huge',
  ),
  flag('error-200', "the vendor's error body under HTTP 200"),
  text('error-mid', 'an error inside the stream: nested, flat, in-choice, event, failed'),
  number('at', 'the events before error-mid, and before *-mid without a number'),
  number('times', 'play the other scenarios only the first N times (per marker)'),
  text('only', 'play the other scenarios only at this vendor: openai, ark, …'),
  flag('duplicate-id', 'every answer with this scenario has the same id'),
  text('split', 'bytes (1-byte writes), utf8 (inside characters), line (each line in two)'),
  flag('json-for-stream', 'answer a stream request with one JSON body'),
  flag('stream-for-json', 'answer a non-stream request with a stream'),
  number('drip', 'wait this many ms after every byte'),
  number('drip-bytes', 'bytes in each drip (default 1)'),
  number('huge-line', 'insert one legal event padded to this many bytes'),
  flag('burst', 'write all events at once instead of one by one'),
  flag('stops-on-cancel', 'generation and billing stop when the client disconnects'),
  text('bill', 'the amount booked in any case: full, none, delivered'),
  flag('crlf', 'lines of the event stream end in CR LF'),
  flag('cr', 'lines of the event stream end in CR alone'),
  flag('mixed-ends', 'lines of the event stream end in CR LF, LF and CR in turn'),
  flag('comments', 'comment lines before every event, as OpenRouter sends them'),
  flag('multiline', 'the JSON of each event is spread over several data: lines'),
  flag('no-final-blank', 'the last event lacks its blank line'),
  flag('no-content-type', 'the response head has no content-type'),
]
