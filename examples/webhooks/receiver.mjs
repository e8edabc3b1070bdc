// A webhook receiver in Node, without packages.
// WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const TOLERANCE_SECONDS = 300
const BODY_BYTES_MAX = 1024 * 1024

/**
 * True when `rawBody` (the bytes as they came, before any parsing) was signed with `secret`
 * within the last five minutes. `headers` has lower-case names.
 */
function verifyWebhook(secret, headers, rawBody, now = Date.now() / 1000) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  if (!/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const expected = `sha256=${createHmac('sha256', secret)
    .update(`${timestamp}.`)
    .update(rawBody)
    .digest('hex')}`
  // After a rotation the secret before it signs too, for 24 hours.
  const given = [headers['x-service-signature'], headers['x-service-signature-previous']]
  return given.some((one) => typeof one === 'string' && isSame(one, expected))
}

function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const seen = new Set()

const server = createServer(async (request, response) => {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return request.destroy()
    chunks.push(chunk)
  }
  const rawBody = Buffer.concat(chunks)
  if (!verifyWebhook(process.env.WEBHOOK_SECRET ?? '', request.headers, rawBody)) {
    return response.writeHead(401).end('bad signature')
  }
  const event = JSON.parse(rawBody.toString())
  // A delivery may arrive more than once: keep this set in your database.
  if (!seen.has(event.task_id)) {
    seen.add(event.task_id)
    console.log(`${event.task_id} ${event.status}`)
  }
  // Answer within 10 seconds; do the real work afterwards.
  response.writeHead(204).end()
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
