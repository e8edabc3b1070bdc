/**
 * Mail to a mail server that others have written: STARTTLS, signing in, a refused recipient, and a
 * server that hangs, by `tributary mail test` as an operator runs it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { readSmtpUrl } from '../../server/base/lib/text/smtp-url.ts'
import { renderTest } from '../../server/work/alerts/mail/render-mail.ts'
import { checkMail, sendMail } from '../../server/work/alerts/mail/transport.ts'
import { runProgram } from '../cli/support.ts'
import { programEnvironment } from '../support/processes.ts'
import { makeTrustedCertificate } from '../support/servers/trusted-certificate.ts'

const USER = 'gateway@t.example'
const PASSWORD = 'p@ss:w/rd'
const REFUSED = 'nobody@c.example'
const STUCK = 'stuck@c.example'
const MAIL_FROM = 'Tributary <gateway@t.example>'

interface Received {
  readonly isSecure: boolean
  readonly user: string
  readonly to: readonly string[]
  readonly data: string
}

let certificate: ReturnType<typeof makeTrustedCertificate>
let server: SMTPServer
let port: number
/** Takes connections and never says a word. */
let silent: { readonly port: number; readonly stop: () => void }
const received: Received[] = []

before(async () => {
  certificate = makeTrustedCertificate()
  const { key, cert } = certificate
  server = new SMTPServer({
    key,
    cert,
    onAuth(auth, _, done) {
      const isKnown = auth.username === USER && auth.password === PASSWORD
      if (isKnown) done(null, { user: USER })
      else done(new Error('who are you?'))
    },
    onRcptTo({ address }, _, done) {
      if (address === REFUSED) done(Object.assign(new Error('no such user'), { responseCode: 550 }))
      else done()
    },
    onData(stream, { secure: isSecure, user = '', envelope }, done) {
      let data = ''
      const to = envelope.rcptTo.map(({ address }) => address)
      stream.on('data', (chunk: Buffer) => {
        data += chunk
      })
      stream.on('end', () => {
        received.push({ isSecure, user, to, data })
        if (!to.includes(STUCK)) done(null, 'queued as 4711')
      })
    },
  })
  // A client that gives up cuts its connection.
  server.on('error', () => {})
  port = await listen(server.listen(0, '127.0.0.1'))
  silent = await startSilentServer()
})
after(async () => {
  silent.stop()
  await new Promise<void>((resolve) => server.close(resolve))
  certificate.remove()
})

async function listen(net: ReturnType<typeof createServer>): Promise<number> {
  await once(net, 'listening')
  return (net.address() as AddressInfo).port
}

async function startSilentServer() {
  const sockets = new Set<Socket>()
  const net = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
  })
  return {
    port: await listen(net.listen(0, '127.0.0.1')),
    stop() {
      for (const socket of sockets) socket.destroy()
      net.close()
    },
  }
}

const signedIn = (password = PASSWORD) =>
  `smtp://${encodeURIComponent(USER)}:${encodeURIComponent(password)}@localhost:${port}`

function settings(url: string) {
  const read = readSmtpUrl(url)
  assert.ok(!('problem' in read))
  return { server: read, from: { name: 'Tributary', address: USER } }
}

function mailTest(url: string, to: string, ...words: string[]) {
  const trust = { NODE_EXTRA_CA_CERTS: certificate.file }
  const environment = { ...programEnvironment(), ...trust, SMTP_URL: url, MAIL_FROM }
  return runProgram(environment, ['mail', 'test', '--to', to, ...words])
}

for (const language of ['en', 'zh'] as const) {
  test(`the mail of a test arrives over STARTTLS, signed in: ${language}`, async () => {
    const to = `${language}@c.example`
    const { code, out, err } = await mailTest(signedIn(), to, '--language', language)
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, new RegExp(`localhost:${port} took the mail to ${to}: 250 .*queued as 4711`))
    const mail = received.find((one) => one.to.includes(to))
    assert.ok(mail?.isSecure)
    assert.equal(mail.user, USER)
    const { subject, text } = renderTest(language, undefined)
    assert.equal(headerOf(mail.data, 'Subject'), subject)
    assert.equal(bodyOf(mail.data).trim(), text.trim())
    assert.equal(headerOf(mail.data, 'Content-Language'), language)
  })
}

test('a refused recipient, a wrong password and a foreign certificate are told apart', async () => {
  const refused = await mailTest(signedIn(), REFUSED)
  assert.equal(refused.code, 1)
  assert.match(refused.err, /550 no such user/)
  assert.match(refused.err, /for good/)
  const wrong = await mailTest(signedIn('guessed'), 'a@c.example', '--json')
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /535 who are you\?/)
  assert.match(wrong.err, /check user and password of SMTP_URL/)
  assert.doesNotMatch(wrong.err, /guessed/)
  const environment = { ...programEnvironment(), SMTP_URL: signedIn(), MAIL_FROM }
  const foreign = await runProgram(environment, ['mail', 'test', '--to', 'a@c.example'])
  assert.equal(foreign.code, 1)
  assert.match(foreign.err, /self-signed certificate/)
  assert.match(foreign.err, /NODE_EXTRA_CA_CERTS/)
  assert.ok(!received.some((one) => one.to.includes('a@c.example')))
})

test('a server that hangs is left, and its mail is tried again', async () => {
  const mail = { id: 'mail_1', language: 'en', subject: 'x', text: 'y\n' }
  const late = { sent: false, error: 'the mail server took too long', isFinal: false }
  const silence = settings(`smtp://localhost:${silent.port}`)
  const limits = { totalMs: 1_000 }
  assert.deepEqual(await sendMail(silence, { ...mail, address: 'a@c.example' }, limits), late)
  const hung = received.length
  const result = await sendMail(settings(signedIn()), { ...mail, address: STUCK }, limits)
  assert.deepEqual(result, late)
  assert.ok(received.length <= hung + 1)
  assert.equal(await checkMail(settings(signedIn()).server), undefined, 'it serves others')
})

function headerOf(data: string, name: string): string | undefined {
  const [head = ''] = data.split('\r\n\r\n', 1)
  const unfolded = head.replace(/\r\n[ \t]+/g, ' ')
  const found = unfolded.split('\r\n').find((line) => line.startsWith(`${name}: `))
  return found?.slice(name.length + 2).replace(ENCODED_WORDS, (words) => decodeWords(words))
}

const ENCODED_WORDS = /=\?UTF-8\?[BQ]\?[^?]*\?=(?: =\?UTF-8\?[BQ]\?[^?]*\?=)*/g

function decodeWords(words: string): string {
  return [...words.matchAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/g)]
    .map(([, kind, text = '']) => {
      if (kind === 'B') return Buffer.from(text, 'base64').toString()
      return decodeQuoted(text.replaceAll('_', ' '))
    })
    .join('')
}

function bodyOf(data: string): string {
  const body = data.slice(data.indexOf('\r\n\r\n') + 4)
  const encoding = headerOf(data, 'Content-Transfer-Encoding')
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuoted(body.replace(/=\r\n/g, '')) : body
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
