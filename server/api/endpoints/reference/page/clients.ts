/** Topics that most callers look for first: their SDK, and a receiver of webhooks. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeBlock } from './code.ts'
import { type Html, html } from './html.ts'

/** The lines of a first call by SDK: those that tests/clients plays against the gateway. */
const SDKS: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'sdks.json'), 'utf8'),
)
const MESSAGES = "[{ role: 'user', content: 'Hello' }]"

/** Renders the settings of SDKs, each with a first call. */
export function renderClients(publicUrl: string): Html {
  const fill = (line: string) =>
    line.replace('PUBLIC_URL', () => publicUrl).replace('MESSAGES', MESSAGES)
  const blocks = Object.entries(SDKS).map(([name, lines]) =>
    codeBlock(name, lines.map(fill).join('\n')),
  )
  return html`<div class="text">
<p>SDKs, agents and editors work unmodified with this address and your key. In Python the
settings are <code>base_url</code> and <code>api_key</code>; many programs read them from the
environment.</p>
<p>The names of your models are in <a href="#getModels"><code>GET /v1/models</code></a>.</p>
</div>
<div class="examples">${blocks}</div>`
}

const RECEIVER = `import { createHmac, timingSafeEqual } from 'node:crypto'

// rawBody: the bytes as they came, before any parsing.
export function verifyWebhook(secret, headers, rawBody) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  if (!(Math.abs(Date.now() / 1000 - timestamp) <= 300)) return false
  const hmac = createHmac('sha256', secret).update(timestamp + '.')
  const expected = Buffer.from('sha256=' + hmac.update(rawBody).digest('hex'))
  return ['x-service-signature', 'x-service-signature-previous'].some((name) => {
    const given = Buffer.from(headers[name] ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}`

export const WEBHOOKS = html`<div class="text">
<p>A task with a <code>callback_url</code> ends with one signed POST to it, whether it succeeded or
failed, so that nothing has to be polled. Answer with 2xx within 10 seconds; any other answer is
tried again. The same delivery may come twice: remember its <code>task_id</code>.</p>
<p><code>X-Service-Signature</code> is <code>sha256=</code> and the hex of HMAC-SHA256 over
<code>X-Service-Timestamp</code>, a dot and the body, with your account’s secret, which the console
shows and <code>tributary webhook</code> prints. For 24 hours after a rotation
<code>X-Service-Signature-Previous</code> has that of the secret before.</p>
</div>
<div class="examples">${codeBlock('Node', RECEIVER)}</div>`
