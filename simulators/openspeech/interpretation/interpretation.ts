// WS /api/v4/ast/v2/translate: simultaneous interpretation, one session after the other on a
// connection (6561/1756902).
import type { WebSocket } from 'ws'
import type { Exchange, SocketRoute } from '../../kernel/exchange.ts'
import type { Platform } from '../../kernel/platform.ts'
import type { ScenarioName } from '../../kernel/scenario.ts'
import { checkStart } from './check-start.ts'
import { type ClientMessage, EVENTS, readMessage, writeMessage } from './messages.ts'
import { Outbox } from './outbox.ts'
import { Session } from './session.ts'

export const INTERPRETATION_SCENARIOS: ScenarioName[] = [
  {
    name: 'close-mid',
    takes: 'number',
    description: 'close the WebSocket after this many messages',
  },
  { name: 'bad-message', takes: 'number', description: 'WebSocket message N is cut short' },
  { name: 'fail-start', takes: 'number', description: 'a session fails to start with this code' },
  { name: 'no-end', takes: 'nothing', description: 'a session never reports its end' },
  {
    name: 'wrong-order',
    takes: 'nothing',
    description: 'the messages of a sentence come in reverse order',
  },
]

const INVALID = 45000001
const EMPTY = 45000002
const TOO_LONG_A_WAIT = 45000081
const INTERNAL = 55000000
const LONGEST_WAIT_MS = 10_000
const SHORTEST_LIMIT_MS = 1000

export function interpretationSocket(platform: Platform): SocketRoute {
  return {
    path: '/api/v4/ast/v2/translate',
    operation: 'interpretation',
    open: (exchange, connection, socket) => {
      const outbox = new Outbox(exchange, connection, socket, platform.timeScale)
      new Connection({ exchange, connection, outbox, platform }).listen()
    },
  }
}

interface Visit {
  exchange: Exchange
  connection: WebSocket
  outbox: Outbox
  platform: Platform
}

class Connection {
  private readonly visit: Visit
  private session: Session | undefined
  private heardBytes = 0
  private waiting: NodeJS.Timeout | undefined

  constructor(visit: Visit) {
    this.visit = visit
  }

  listen(): void {
    const { connection } = this.visit
    connection.on('message', (data: Buffer, binary: boolean) => {
      this.take(data, binary)
      if (this.visit.outbox.struck === 'error') this.fail(...this.askedFailure())
    })
    connection.on('error', () => connection.terminate())
    connection.on('close', () => {
      clearTimeout(this.waiting)
      this.session?.close('client went away')
    })
  }

  private take(data: Buffer, binary: boolean): void {
    let message: ClientMessage
    try {
      if (!binary) throw new Error('text')
      message = readMessage(data)
    } catch {
      this.fail(INVALID, 'the message cannot be read')
      return
    }
    const isCurrent = this.session?.id === message.sessionId
    if (message.event === EVENTS.StartSession) this.begin(message)
    else if (isCurrent) this.obey(message)
    else this.fail(INVALID, 'no such session')
  }

  private obey({ event, audio }: ClientMessage): void {
    if (event === EVENTS.TaskRequest) this.hear(audio)
    else if (event === EVENTS.UpdateConfig) this.expectMore()
    else if (event === EVENTS.CancelSession) this.end((session) => session.cancel())
    else if (event === EVENTS.FinishSession) this.finish()
    else this.fail(INVALID, `event ${event} is unknown`)
  }

  private begin(start: ClientMessage): void {
    if (this.session) {
      this.fail(INVALID, 'duplicate session')
      return
    }
    const { exchange, outbox, platform } = this.visit
    const refusal = checkStart(start)
    const failureCode = exchange.scenario.number('fail-start')
    if (refusal || failureCode !== undefined) {
      const { code, message } = refusal ?? {
        code: failureCode ?? INTERNAL,
        message: 'asked to fail',
      }
      this.refuse(start.sessionId, code, message)
      return
    }
    this.heardBytes = 0
    this.session = new Session({ exchange, outbox, book: platform.book }, start)
    this.expectMore()
  }

  private hear(audio: Buffer): void {
    this.heardBytes += audio.length
    this.session?.hear(audio)
    this.expectMore()
  }

  private finish(): void {
    if (this.heardBytes === 0) {
      this.fail(EMPTY, 'empty audio')
      return
    }
    this.end((session) => {
      void session.finish().then(() => {
        if (this.visit.outbox.struck !== 'error') return
        session.fail(...this.askedFailure())
        this.visit.connection.close(1000)
      })
    })
  }

  private end(how: (session: Session) => void): void {
    clearTimeout(this.waiting)
    const { session } = this
    this.session = undefined
    if (session) how(session)
  }

  private expectMore(): void {
    clearTimeout(this.waiting)
    const { timeScale } = this.visit.platform
    const limitMs = Math.max(SHORTEST_LIMIT_MS, LONGEST_WAIT_MS * timeScale)
    this.waiting = setTimeout(() => {
      this.fail(TOO_LONG_A_WAIT, 'waiting for the next packet timed out')
    }, limitMs)
    this.waiting.unref()
  }

  private askedFailure(): [code: number, message: string] {
    const { scenario } = this.visit.exchange
    const code = Number(scenario.text('error-code') ?? INTERNAL)
    return [code, scenario.text('error-message') ?? 'internal server error']
  }

  private fail(code: number, message: string): void {
    if (!this.session) {
      this.refuse('', code, message)
      return
    }
    this.end((session) => session.fail(code, message))
    this.visit.connection.close(1000)
  }

  private refuse(sessionId: string, code: number, message: string): void {
    const failure = { event: 'SessionFailed', sessionId, sequence: 1, code, message } as const
    this.visit.outbox.sendNow(writeMessage(failure))
    this.visit.connection.close(1000)
  }
}
