/**
 * Passes answers of the contents format on and reads them. The vendor is asked for events; callers
 * who do not read events get the same documents as a list.
 */
import { parseEventData } from '../parse-event-data.ts'
import { countBytes } from '../parts/translate-answer.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, type SseEvent } from '../sse.ts'
import { type BodyReading, createBodyTap } from '../tap.ts'
import { readGoogleError } from './read-error.ts'
import { ContentsReader } from './read-parts.ts'
import type { ContentsUsageOptions } from './read-usage.ts'

export interface ContentsTapOptions extends ContentsUsageOptions {
  /** True if the caller gets a JSON list in place of events. */
  readonly isList: boolean
}

/** Returns a tap of a stream. An ending that the vendor did not state is never invented. */
export function createContentsTap(options: ContentsTapOptions): Relay {
  return new ContentsTap(options)
}

/** Returns a tap of a whole answer; only an error in its place counts as an error. */
export function createContentsBodyTap(usage: ContentsUsageOptions): Relay {
  return createBodyTap((document): BodyReading => {
    const error = readGoogleError(document)
    const reader = new ContentsReader({ ...usage, isGrounded: false, readsAll: true })
    const { reading, parts } = reader.whole(document)
    const { error: _unusual, ...rest } = reading
    if (error) return { ...rest, error: { ...UPSTREAM_ERROR, ...textOf(error) } }
    return parts.some(({ kind }) => kind === 'begin') ? rest : { ...rest, error: UPSTREAM_ERROR }
  })
}

const textOf = ({ message }: { readonly message?: string | undefined }) =>
  message === undefined ? {} : { message }

class ContentsTap implements Relay {
  private readonly isList: boolean
  private readonly reader: ContentsReader
  private readonly parser: ReturnType<typeof createSseParser>
  private out = ''
  private count = 0
  private outputBytes = 0
  private outputEvents = 0
  private hasEnding = false
  private isOver = false
  private error: ReportedError | undefined

  constructor({ isList, ...usage }: ContentsTapOptions) {
    this.isList = isList
    this.reader = new ContentsReader({ ...usage, isGrounded: false, readsAll: true })
    this.parser = createSseParser({
      limitBytes: ANSWER_EVENT_BYTES_MAX,
      onEvent: (event) => this.onEvent(event),
      onOverflow: () => this.breakOff(UPSTREAM_ERROR),
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    this.parser.push(chunk)
    return this.take()
  }

  end(): Buffer | undefined {
    this.parser.end()
    if (!this.hasEnding) this.breakOff(UPSTREAM_ERROR)
    else if (this.isList && !this.isOver) this.out += ']'
    this.isOver = true
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    this.breakOff({ type, message })
    return this.take()
  }

  report(): RelayReport {
    const { error, outputBytes, outputEvents } = this
    const reading = { ...this.reader.reading(), outputBytes, outputEvents }
    return { ...reading, finished: this.isOver && !error, ...(error ? { error } : {}) }
  }

  heldBytes(): number {
    return this.parser.heldBytes()
  }

  private onEvent(event: SseEvent): void {
    if (this.isOver) {
      this.reader.late(event)
      return
    }
    const document = parseEventData(event)
    const stated = readGoogleError(document)
    if (!document || stated) {
      if (document) this.reader.late(event)
      this.breakOff({ ...UPSTREAM_ERROR, ...textOf(stated ?? {}) })
      return
    }
    let bytes = 0
    for (const part of this.reader.event(event)) {
      bytes += countBytes(part)
      // Clients of this format know more endings than other dialects have.
      this.hasEnding ||= part.kind === 'reason' || part.kind === 'error'
    }
    if (bytes > 0) this.outputEvents += 1
    this.outputBytes += bytes
    this.write(event.data)
  }

  private breakOff(error: ReportedError): void {
    if (this.isOver) return
    this.error = error
    this.write(encodeError(error))
    this.isOver = true
  }

  private write(text: string): void {
    if (this.isOver) return
    const isError = this.error !== undefined
    if (this.isList) this.out += (this.count === 0 ? '[' : ',\r\n') + text + (isError ? ']' : '')
    // An error stands alone, as the vendor writes it: clients do not look for it in events.
    else this.out += isError ? `${text}\r\n\r\n` : `data: ${text}\r\n\r\n`
    this.count += 1
  }

  private take(): Buffer | undefined {
    const { out } = this
    this.out = ''
    return out === '' ? undefined : Buffer.from(out)
  }
}

function encodeError({ message }: ReportedError): string {
  return JSON.stringify({ error: { code: 500, message, status: 'INTERNAL' } })
}
