/** The topics that apply to every endpoint, before the list of endpoints. */
import { ERRORS } from '../../../../base/lib/errors.ts'
import { listStatuses } from '../statuses.ts'
import { renderClients, WEBHOOKS } from './clients.ts'
import { codeBlock, highlightJson } from './code.ts'
import { type Html, html } from './html.ts'

export interface Topic {
  readonly id: string
  readonly title: string
  readonly content: Html
}

export function listTopics(publicUrl: string): Topic[] {
  return [
    { id: 'sdk', title: 'Your SDK', content: renderClients(publicUrl) },
    { id: 'start', title: 'First call', content: renderStart(publicUrl) },
    { id: 'keys', title: 'Keys', content: KEYS },
    { id: 'tokens', title: 'Access tokens', content: renderTokens(publicUrl) },
    { id: 'requests', title: 'Requests', content: REQUESTS },
    { id: 'money', title: 'What a call costs', content: MONEY },
    { id: 'repeating', title: 'Repeating a request', content: REPEATING },
    { id: 'streams', title: 'Streams', content: STREAMS },
    { id: 'webhooks', title: 'Webhooks', content: WEBHOOKS },
    { id: 'errors', title: 'Errors', content: renderErrorTopic() },
  ]
}

function renderStart(publicUrl: string): Html {
  const commands = `KEY=tr-…   # your key

curl ${publicUrl}/v1/models \\
  -H "Authorization: Bearer $KEY"`
  return html`<div class="text">
<p>All paths below start with <code>${publicUrl}</code>. The commands on this page can be pasted
into a shell once <code>KEY</code> is set; the models in them are available here.</p>
<p>The same for machines: <a href="/openapi.json" download>openapi.json</a> (OpenAPI 3.1) and
<a href="/llms.txt">llms.txt</a>. Operators’ and the console’s calls are in the
<a href="/docs/admin">admin API</a>.</p>
</div>
<div class="examples">${codeBlock('Shell', commands)}</div>`
}

const KEYS = html`<div class="text">
<p>A key starts with <code>tr-</code>. Send it as <code>Authorization: Bearer tr-…</code> or as
<code>x-api-key: tr-…</code>; every endpoint accepts both. Two different keys in one request are
refused with 401.</p>
<p>A key can be limited to some models, to an amount, to a rate, and in time.</p>
</div>`

function renderTokens(publicUrl: string): Html {
  const commands = `TOKEN=tra-…   # your access token

curl ${publicUrl}/admin/v1/me \\
  -H "Authorization: Bearer $TOKEN"`
  return html`<div class="text">
<p>Scripts use the admin API with an access token, which starts with <code>tra-</code> and is
created in the console’s settings or with <code>tributary token create</code>. It has the
permissions of its user: with the scope <code>read</code> only those that change nothing, and
secrets, prices and credits only if it was created for sensitive actions. Sign-ins, passwords,
second factors, users and tokens cannot be managed with a token.</p>
<p>Cookies are ignored beside a token, and the console’s own header is not needed.</p>
</div>
<div class="examples">${codeBlock('Shell', commands)}</div>`
}

const REQUESTS = html`<div class="text">
<p>A field that is <code>null</code> counts as absent: it changes neither the response nor the
charge.</p>
<p>A body may be sent with <code>Content-Encoding</code> <code>gzip</code>, <code>deflate</code>,
<code>br</code> or <code>zstd</code>; its decoded bytes count. With <code>Accept-Encoding</code>,
JSON of at least 1 KB is compressed likewise.</p>
</div>`

const RECORD = {
  request_id: 'req_5YxqZ0b3nD8vKc1TfWmA9h',
  status: 'succeeded',
  held: '0.0031',
  charged: '0.000112',
  returned: '0.002988',
  basis: 'usage',
}

const MONEY = html`<div class="text">
<p>Before a paid call is sent to an upstream, its estimated cost is held. When the call ends, its
actual cost is charged and the rest of the hold is returned. A call that fails before anything was
delivered costs nothing. If the balance does not cover the hold, the call is refused with 402 and
nothing is sent.</p>
<p>Every response has the header <code>X-Request-Id</code> (an id that you send is repeated as
<code>X-Client-Request-Id</code>). The
<a href="#getUsageByRequestId">usage record</a> of that id explains the charge line by line;
<code>basis</code> is the source of its figures:</p>
<table class="statuses"><tbody>
<tr><td><code>usage</code></td><td>The usage that the upstream stated.</td></tr>
<tr><td><code>estimate</code></td><td>Counted from request and response: no stated usage.</td></tr>
<tr><td><code>partial</code></td><td>The part delivered before the upstream broke off.</td></tr>
<tr><td><code>params</code></td><td>Computed from the request’s own parameters.</td></tr>
<tr><td><code>checkpoint</code></td><td>Counted up to a failure of the gateway itself.</td></tr>
<tr><td><code>none</code></td><td>Nothing is owed.</td></tr>
</tbody></table>
</div>
<div class="examples">${codeBlock('Part of a usage record', highlightJson(RECORD))}</div>`

const REPEATING = html`<div class="text">
<p>With an <code>Idempotency-Key</code> of your own, a paid POST can be retried for 24 hours
without paying twice. A retry with the same body gets the first response and the header
<code>Idempotent-Replayed</code>, or 409 while the first request is still running; with another
body it gets 422. Streamed responses are not stored: their retry gets 409 with the request id.</p>
<p>Without this header, two requests are two calls and two charges.</p>
</div>`

const STREAMS = html`<div class="text">
<p>A stream forwards the upstream’s bytes as they arrive. Its last bytes are sent once the charge
is committed. If you close the connection early, you still pay for what the upstream bills.</p>
<p>Responses can also be streamed over a WebSocket: open <code>/v1/responses</code> with an upgrade
and send <code>{"type": "response.create", …}</code> with the members of
<a href="#postResponses">its POST</a>, one response at a time. A refusal is an event
<code>error</code> with its <code>status</code>.</p>
</div>`

const FLAT = {
  error: ERRORS.insufficient_balance.message,
  type: 'billing_error',
  billing: { required: '0.0031', available: '0.001', debt: '0', currency: 'CNY' },
}
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
    ({ status, type, meaning }) => html`<tr id="error-${status}">
<td><code>${status}</code></td><td><code>${type}</code><br>${meaning}</td></tr>`,
  )
  return html`<div class="text">
<p>An error has a status, a <code>type</code> and a message. Endpoints for vendors’ SDKs use the
nested form, which those SDKs expect; all others use the flat form.</p>
<p><code>x-should-retry: false</code>: a retry cannot help, or might buy the work twice.
<code>true</code>: no work was done. <code>Retry-After</code>: seconds after which a retry may
succeed.</p>
<table class="statuses"><tbody>${rows}</tbody></table>
</div>
<div class="examples">${codeBlock('Flat', highlightJson(FLAT))}
${codeBlock('Nested', highlightJson(NESTED))}</div>`
}
