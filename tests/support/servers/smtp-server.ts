/** A mail server on loopback that keeps what it gets, and answers commands as a test wants it. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text, as they were sent. */
  readonly data: string
}

export interface SmtpTestServer {
  readonly port: number
  readonly mails: readonly ReceivedMail[]
  /** Every command of every connection. */
  readonly commands: readonly string[]
  /** Replaces the answer to commands with this first word: a line, or null for silence. */
  answer(verb: string, line: string | null): void
  /** Calls this once data has come, before it is answered. */
  onData: (() => Promise<void> | void) | undefined
  stop(): Promise<void>
}

const ANSWERS: Readonly<Record<string, string>> = {
  EHLO: '250 loopback',
  MAIL: '250 sender ok',
  RCPT: '250 recipient ok',
  DATA: '354 go on',
  '.': '250 taken',
  QUIT: '221 bye',
}

export async function startSmtpServer(): Promise<SmtpTestServer> {
  const answers = new Map<string, string | null>(Object.entries(ANSWERS))
  const mails: ReceivedMail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.write('220 loopback\r\n')
    let envelope = { from: '', to: [] as string[] }
    let isData = false
    let buffered = ''
    const reply = (verb: string) => {
      const line = answers.has(verb) ? answers.get(verb) : '502 unknown'
      if (line !== null && !socket.destroyed) socket.write(`${line}\r\n`)
      return line
    }
    const finish = async (data: string) => {
      const mail = { ...envelope, data }
      envelope = { from: '', to: [] }
      await self.onData?.()
      if (answers.get('.')?.startsWith('250')) mails.push(mail)
      reply('.')
    }
    socket.on('data', (chunk) => {
      buffered += chunk.toString()
      for (;;) {
        const end = isData ? buffered.indexOf('\r\n.\r\n') : buffered.indexOf('\r\n')
        if (end === -1) return
        const piece = buffered.slice(0, end)
        buffered = buffered.slice(end + (isData ? 5 : 2))
        if (isData) {
          isData = false
          void finish(piece)
          continue
        }
        commands.push(piece)
        const verb = (piece.split(/[ :]/)[0] ?? '').toUpperCase()
        if (verb === 'MAIL') envelope = { from: piece, to: [] }
        if (verb === 'RCPT') envelope.to.push(piece.replace(/^RCPT TO:<(.*)>.*$/i, '$1'))
        if (reply(verb)?.startsWith('354')) isData = true
        if (verb === 'QUIT') socket.end()
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const self: SmtpTestServer = {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    answer: (verb, line) => void answers.set(verb, line),
    onData: undefined,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return self
}
