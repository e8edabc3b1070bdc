/**
 * Proves that no spelling of a private address, in any field that takes a URL, makes the gateway
 * connect to it. `npm run prove:ssrf`. Canaries listen on a port that callers may name, so that
 * only the check of the address protects them; their accepted connections are counted.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { newId } from '../server/base/lib/ids.ts'
import { createGuard } from '../server/base/outbound/guard.ts'
import { enqueueDelivery } from '../server/work/webhooks/enqueue.ts'
import { readConditions, report, table } from '../testbed/results.ts'
import { REFUSED_HOSTS, REFUSED_URLS } from '../tests/outbound/url-forms.ts'
import { startTestGateway, type TestGateway } from '../tests/support/in-process.ts'
import { until } from '../tests/support/until.ts'
import { VIDEO_PATH } from '../tests/tasks/stage.ts'

const conditions = readConditions('npm run prove:ssrf')
let accepts = 0
// The proof is about addresses: its database trades durability for speed.
process.env.TRIBUTARY_TEST_UNSAFE_DATABASE ??= '1'

async function startCanary(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => {
    accepts += 1
    socket.destroy()
  })
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Each field that takes a URL, as a request with that URL in it. */
const FIELDS: Readonly<Record<string, (url: string) => readonly [path: string, body: object]>> = {
  'webhooks/test url': (url) => ['/v1/webhooks/test', { url }],
  callback_url: (url) => video([{ type: 'text', text: 'a river' }], { callback_url: url }),
  image_url: (url) => video([{ type: 'image_url', image_url: { url } }]),
  video_url: (url) => video([{ type: 'video_url', video_url: { url }, role: 'reference_video' }]),
  audio_url: (url) =>
    video([
      {
        type: 'image_url',
        image_url: { url: 'https://example.com/a.png' },
        role: 'reference_image',
      },
      { type: 'audio_url', audio_url: { url }, role: 'reference_audio' },
    ]),
}

function video(content: readonly object[], more: object = {}): readonly [string, object] {
  return [VIDEO_PATH, { model: 'canary-video', content, ...more }]
}

const VIDEO_CATALOG = {
  channels: [
    { id: 'nowhere', upstream: 'ark', settings: { base_url: 'http://127.0.0.1:1', api_key: 'k' } },
  ],
  models: [
    {
      id: 'canary-video',
      type: 'video',
      free: true,
      routes: [{ channel: 'nowhere', upstream_model: 'doubao-seedance-2-0-260128' }],
    },
  ],
}

/** Some fields trim blanks; the rest must still be public. */
function leadsInward(url: string): boolean {
  const policy = { allowance: 'public', ports: new Set([80, 443]) } as const
  const guard = createGuard({ policy: () => policy })
  return !URL.canParse(url) || guard.readUrl(new URL(url).href) !== undefined
}

async function tryFields(gateway: TestGateway, urls: readonly string[]) {
  const rows: [string, number, number][] = []
  const wrong: string[] = []
  const { key, accountId } = await gateway.tenant()
  for (const [field, request] of Object.entries(FIELDS)) {
    let refused = 0
    for (const url of urls) {
      const [path, body] = request(url)
      const answer = await gateway.post(path, key, body)
      if (answer.status === 400) refused += 1
      else if (leadsInward(url)) wrong.push(`${field} ${JSON.stringify(url)}: ${answer.status}`)
    }
    rows.push([field, urls.length, refused])
  }
  return { rows, wrong, accountId }
}

/**
 * Delivers to the same URLs past the check at creation, as if their names had changed meanwhile.
 */
async function tryAtSending(gateway: TestGateway, accountId: string, urls: readonly string[]) {
  const usable = urls.filter((url) => URL.canParse(url) && url.length <= 2_048)
  for (const url of usable) {
    const delivery = { accountId, taskId: newId('task'), kind: 'video', url, body: '{}' }
    await gateway.sql.begin((transaction) => enqueueDelivery(transaction, delivery))
  }
  const [sum] = await until(
    'every first attempt',
    async () => {
      const rows = await gateway.sql<{ refused: number; wrong: number }[]>`
        select count(*) filter (where outcome = 'refused')::int as refused,
          count(*) filter (where outcome = 'accepted' or status is not null)::int as wrong
        from delivery_attempt where number = 1`
      return rows[0] && rows[0].refused + rows[0].wrong >= usable.length ? rows : undefined
    },
    300_000,
  )
  return { sent: usable.length, refused: sum?.refused ?? 0, wrong: sum?.wrong ?? 0 }
}

/** A resolver that returns a public address first and the canary's address afterwards. */
async function tryRebinding(port: number): Promise<{ tries: number; connected: number }> {
  const bad = ['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', '0.0.0.0']
  let connected = 0
  let tries = 0
  for (const address of bad) {
    for (const answers of [[address], ['93.184.215.14', address], [address, '93.184.215.14']]) {
      let lookUps = 0
      const resolve = async () => (lookUps++ === 0 ? ['93.184.215.14'] : answers)
      const policy = { allowance: 'public', ports: new Set([port]) } as const
      const guard = createGuard({ policy: () => policy, resolve })
      const url = `http://rebinding.example.com:${port}/`
      if ((await guard.checkUrl(url)) !== undefined) throw new Error('the first answer is public')
      const limits = { budgetMs: 2_000, bodyMs: 100, bodyBytesMax: 100 }
      const result = await guard.request({ url, method: 'POST', headers: {}, ...limits })
      tries += 1
      if (result.outcome !== 'refused' || lookUps !== 2) connected += 1
    }
  }
  return { tries, connected }
}

const canaries = [await startCanary('0.0.0.0', 0)]
const port = portOf(canaries[0] ?? createServer())
canaries.push(await startCanary('::1', port))
const gateway = await startTestGateway({ TARGET_PORTS: `80,443,${port}` })
await gateway.apply(VIDEO_CATALOG)
const urls = [
  ...REFUSED_HOSTS.map((host) => `http://${host}:${port}/`),
  ...REFUSED_URLS.map((url) => url.replace('%PORT%', String(port))),
]
const created = await tryFields(gateway, urls)
const sent = await tryAtSending(gateway, created.accountId, urls)
const rebinding = await tryRebinding(port)
await gateway.stop()
for (const canary of canaries) canary.close()

const ok =
  accepts === 0 && created.wrong.length === 0 && sent.wrong === 0 && rebinding.connected === 0
const lines = [
  ...table([['field', 'URLs', 'refused with 400'], ...created.rows]),
  'Not refused: public hosts with blanks around them, which the field drops.',
  '',
  `Past the check at creation: ${sent.sent} deliveries, ${sent.refused} refused when sent.`,
  `Rebinding resolver: ${rebinding.tries} names, ${rebinding.connected} connected.`,
  `Connections that the canaries accepted: ${accepts}.`,
  ...created.wrong.slice(0, 20),
  ok ? 'PASSED' : 'FAILED',
]
const forms = urls.length
report(
  'prove-ssrf',
  conditions,
  { forms, fields: created.rows, sent, rebinding, accepts, ok },
  lines,
)
if (!ok) process.exitCode = 1
