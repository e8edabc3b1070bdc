// One session of interpretation: audio in, sentences out, usage along the way, and one entry in the
// book when it ends for any reason.
import type { Book } from '../../kernel/book.ts'
import type { Exchange } from '../../kernel/exchange.ts'
import { bentUsage } from '../../kernel/usage.ts'
import { Interpreter, type Sentence } from './interpreter.ts'
import { type Billing, type ClientMessage, type ServerMessage, writeMessage } from './messages.ts'
import type { Outbox } from './outbox.ts'
import { Speaker } from './speaker.ts'

const OK = 20000000
const MS_OF_TOKEN = 160

export interface Stage {
  exchange: Exchange
  outbox: Outbox
  book: Book
}

interface Tokens {
  input: number
  text: number
  audio: number
}

export class Session {
  readonly id: string
  private readonly stage: Stage
  private readonly start: ClientMessage
  private readonly interpreter: Interpreter
  private readonly speaker: Speaker
  private sequence = 0
  private characters = 0
  private reported: Tokens = { input: 0, text: 0, audio: 0 }
  private reportedMs = 0
  private closed = false

  constructor(stage: Stage, start: ClientMessage) {
    this.id = start.sessionId
    this.stage = stage
    this.start = start
    this.interpreter = new Interpreter(start.targetLanguage)
    const { format, rate } = start.target
    this.speaker = new Speaker({ format, rate, speechRate: start.speechRate })
    stage.book.begin()
    this.send({ event: 'SessionStarted' }, 'OK')
  }

  hear(audio: Buffer): void {
    const { sentences, mutedMs } = this.interpreter.hear(audio)
    if (mutedMs !== undefined) this.send({ event: 'AudioMuted', mutedMs })
    for (const sentence of sentences) this.interpret(sentence)
  }

  /** Called after the client's last audio: sends the rest, then usage, then the end. */
  async finish(): Promise<void> {
    for (const sentence of this.interpreter.finish()) this.interpret(sentence)
    if (this.start.mode === 's2s') {
      const closing = this.speaker.end()
      if (closing) this.send({ event: 'TTSResponse', data: closing })
      this.send({ event: 'TTSEnded' })
    }
    this.sendUsage(true)
    if (this.stage.exchange.scenario.has('no-end')) return this.close('no end was sent')
    await this.send({ event: 'SessionFinished' }, 'OK')
    if (this.stage.outbox.struck === 'error') return
    this.close(this.stage.outbox.struck === undefined ? undefined : 'connection lost')
  }

  cancel(): void {
    this.sendUsage(true)
    this.send({ event: 'SessionCanceled' }, 'OK')
    this.close('canceled')
  }

  fail(code: number, message: string): void {
    const failure = { event: 'SessionFailed', code, message } as const
    this.stage.outbox.sendNow(
      writeMessage({ ...failure, sessionId: this.id, sequence: this.sequence }),
    )
    this.close(message, false)
  }

  /** Writes the book, once. Finished work is billed even without a connection. */
  close(reason?: string, billed = true): void {
    if (this.closed) return
    this.closed = true
    const { exchange, book } = this.stage
    const { input, text, audio } = this.tokens(true)
    const bills = billed && exchange.scenario.text('bill') !== 'none'
    const usage = {
      input_audio_tokens: input,
      output_text_tokens: text,
      output_audio_tokens: audio,
    }
    book.write({
      vendor: exchange.vendor.name,
      operation: exchange.operation,
      request_id: exchange.requestId,
      model: String(exchange.request.headers['x-api-resource-id']),
      units: bills ? { input_token: input, output_token: text + audio } : {},
      billed: bills,
      status: 101,
      client_request_id: this.id,
      reported: usage,
      reason,
    })
    book.end()
  }

  private interpret(sentence: Sentence): void {
    const { scenario } = this.stage.exchange
    this.characters += [...sentence.translation].length
    const parts = subtitlesOf(sentence)
    if (this.start.mode === 's2s') parts.push(...this.spoken(sentence))
    const ordered = scenario.has('wrong-order') ? parts.toReversed() : parts
    for (const part of ordered) this.send(part)
    this.sendUsage(false)
  }

  private spoken({ translation, startMs, endMs }: Sentence): Part[] {
    const pieces = this.speaker.speak(translation)
    return [
      { event: 'TTSSentenceStart', text: translation, startMs },
      ...pieces.map((data): Part => ({ event: 'TTSResponse', data })),
      { event: 'TTSSentenceEnd', text: translation, startMs, endMs },
    ]
  }

  /** Sends the increments since the last report. */
  private sendUsage(last: boolean): void {
    const how = this.stage.exchange.scenario.text('usage')
    const now = this.tokens(last)
    const items: Record<string, number> = {
      input_audio_tokens: now.input - this.reported.input,
      output_text_tokens: now.text - this.reported.text,
    }
    if (this.start.mode === 's2s') items.output_audio_tokens = now.audio - this.reported.audio
    const durationMs = this.interpreter.heardMs - this.reportedMs
    this.reported = now
    this.reportedMs = this.interpreter.heardMs
    if (how === 'absent') return
    const billing = bent(items, durationMs, how)
    this.send({ event: 'UsageResponse', billing })
    if (how === 'twice') this.send({ event: 'UsageResponse', billing })
  }

  private tokens(last: boolean): Tokens {
    const input = this.interpreter.heardMs / MS_OF_TOKEN
    const audio = this.start.mode === 's2s' ? this.speaker.spokenMs / MS_OF_TOKEN : 0
    const whole = last ? Math.ceil : Math.floor
    return { input: whole(input), text: this.characters, audio: whole(audio) }
  }

  private send(part: Part, message?: string): Promise<void> {
    this.sequence += 1
    const meta = { sessionId: this.id, sequence: this.sequence, code: OK }
    const named = message === undefined ? {} : { message }
    return this.stage.outbox.send(writeMessage({ ...part, ...meta, ...named }))
  }
}

function bent(
  items: Record<string, number>,
  durationMs: number,
  how: string | undefined,
): Billing | undefined {
  const usage = how === 'twice' ? items : bentUsage(items, how)
  if (typeof usage !== 'object' || usage === null) return undefined
  const numbers = Object.entries(usage).map(([unit, value]) => [unit, Number(value)])
  return { items: Object.fromEntries(numbers), durationMs }
}

export type Part = Omit<ServerMessage, 'sessionId' | 'sequence' | 'code'>

/** Text is sent in two pieces and whole at its end: only the end is reliable. */
function subtitlesOf({ source, translation, startMs, endMs }: Sentence): Part[] {
  const [sourceStart, sourceRest] = halves(source)
  const [translationStart, translationRest] = halves(translation)
  return [
    { event: 'SourceSubtitleStart', startMs },
    { event: 'SourceSubtitleResponse', text: sourceStart },
    { event: 'TranslationSubtitleStart', startMs },
    { event: 'SourceSubtitleResponse', text: sourceRest },
    { event: 'TranslationSubtitleResponse', text: translationStart },
    { event: 'SourceSubtitleEnd', text: source, startMs, endMs },
    { event: 'TranslationSubtitleResponse', text: translationRest },
    { event: 'TranslationSubtitleEnd', text: translation, startMs, endMs },
  ]
}

function halves(text: string): [string, string] {
  const characters = [...text]
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')]
}
