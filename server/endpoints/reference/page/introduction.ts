/** What holds for every endpoint, in front of the endpoints. */
import { listStatuses } from '../statuses.ts'
import { codeBlock, highlightJson } from './code.ts'
import { type Html, html } from './html.ts'

export interface Topic {
  readonly id: string
  readonly title: string
  readonly content: Html
}

export function listTopics(publicUrl: string): Topic[] {
  return [
    { id: 'start', title: 'First call', content: renderStart(publicUrl) },
    { id: 'keys', title: 'Keys', content: KEYS },
    { id: 'tokens', title: 'Access tokens', content: renderTokens(publicUrl) },
    { id: 'money', title: 'What a call costs', content: MONEY },
    { id: 'repeating', title: 'Repeating a request', content: REPEATING },
    { id: 'streams', title: 'Streams', content: STREAMS },
    { id: 'errors', title: 'Errors', content: renderErrorTopic() },
  ]
}

function renderStart(publicUrl: string): Html {
  const commands = `KEY=tr-…   # your key

curl ${publicUrl}/v1/models \\
  -H "Authorization: Bearer $KEY"`
  return html`<div class="text">
<p>Every address below begins with <code>${publicUrl}</code>. The commands on this page can be
pasted into a shell once <code>KEY</code> is set; the models they name are offered here.</p>
<p>The same reference for machines: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
</div>
<div class="examples">${codeBlock('Shell', commands)}</div>`
}

const KEYS = html`<div class="text">
<p>A key begins with <code>tr-</code>. Send it as <code>Authorization: Bearer tr-…</code> or as
<code>x-api-key: tr-…</code>; every endpoint takes both. Two different keys in one request are
refused with 401.</p>
<p>A key can be limited to some models, to a sum, to a rate and to a date.</p>
</div>`

function renderTokens(publicUrl: string): Html {
  const commands = `TOKEN=tra-…   # your access token

curl ${publicUrl}/admin/v1/me \\
  -H "Authorization: Bearer $TOKEN"`
  return html`<div class="text">
<p>What the console does, scripts do with an access token, which begins with <code>tra-</code> and
is made in the console’s settings or with <code>tributary token create</code>. It may what its
person may: with the scope <code>read</code> whatever changes nothing, and secrets, prices and
credits only when it was made for sensitive acts. Sign-ins, passwords, second factors, people and
tokens are for people alone.</p>
<p>No cookie is read beside a token, and the console’s own header is not needed.</p>
</div>
<div class="examples">${codeBlock('Shell', commands)}</div>`
}

const RECORD = {
  request_id: 'req_5YxqZ0b3nD8vKc1TfWmA9h',
  status: 'succeeded',
  held: '0.0031',
  charged: '0.000112',
  returned: '0.002988',
  basis: 'usage',
}

const MONEY = html`<div class="text">
<p>Before a paid call is sent on, the most that it should cost is frozen; when it ends, what it
did cost is charged and the rest returns. A call that fails before anything was delivered costs
nothing. When the account cannot cover a call, it is refused with 402 and nothing is sent.</p>
<p>Every answer carries <code>X-Request-Id</code>; <a href="#getUsageByRequestId">its record</a>
explains the charge line by line, and <code>basis</code> says where the figure comes from:</p>
<table class="statuses"><tbody>
<tr><td><code>usage</code></td><td>The upstream stated what was used.</td></tr>
<tr><td><code>estimate</code></td><td>It stated nothing: counted from request and answer.</td></tr>
<tr><td><code>partial</code></td><td>It broke off: what was delivered, where that is owed.</td></tr>
<tr><td><code>params</code></td><td>Computed from the request’s own parameters.</td></tr>
<tr><td><code>checkpoint</code></td><td>The gateway itself died: what was counted by then.</td></tr>
<tr><td><code>none</code></td><td>Nothing is owed.</td></tr>
</tbody></table>
</div>
<div class="examples">${codeBlock('Part of a record', highlightJson(RECORD))}</div>`

const REPEATING = html`<div class="text">
<p>Send an <code>Idempotency-Key</code> of your own with a paid POST and you may repeat it for 24
hours without paying twice: the same body is answered with the first answer and the header
<code>Idempotent-Replayed</code>, 409 while the first is still running, and 422 if the body is
another one. An answer that was streamed is not kept: its repetition is 409 with the request id.</p>
<p>Without that header two requests are two calls and two charges.</p>
</div>`

const STREAMS = html`<div class="text">
<p>A stream passes on what the upstream sends, as it comes. Its last bytes are sent when the
charge is in the books. If you close the connection early, what the upstream bills for the call
is still owed.</p>
</div>`

const FLAT = { error: 'insufficient balance', type: 'billing_error' }
const NESTED = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'messages: too small',
    code: null,
    param: 'messages',
  },
}

function renderErrorTopic(): Html {
  const rows = listStatuses().map(
    ({ status, type, meaning }) => html`<tr>
<td><code>${status}</code></td><td><code>${type}</code><br>${meaning}</td></tr>`,
  )
  return html`<div class="text">
<p>An error has a status, a <code>type</code> and a text. The endpoints that vendors’ SDKs call
answer in the nested form, which those SDKs read; all others in the flat one.</p>
<p><code>x-should-retry: false</code> says that repeating cannot help, or might buy the work
twice; <code>true</code> says that nothing was done. <code>Retry-After</code> says after
how many seconds it may.</p>
<table class="statuses"><tbody>${rows}</tbody></table>
</div>
<div class="examples">${codeBlock('Flat', highlightJson(FLAT))}
${codeBlock('Nested', highlightJson(NESTED))}</div>`
}
