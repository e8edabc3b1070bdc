/**
 * Watches a stream of images for a caller of the same dialect: events pass as their original bytes;
 * usage, finished images and the protocol's own end are read on the way.
 */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { createFrameFilter, type FrameFilter } from '../frame-filter.ts'
import { hideInFrame } from '../hide-error.ts'
import { createLargeObjectReader, type LargeObjectReader } from '../large-object.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent, readSseFrame } from '../sse.ts'
import { countImageBytes, isImage, readImagesError, readImageUsage } from './read-answer.ts'

/** Larger events pass without being held: images have any size. */
const EVENT_LIMIT_BYTES = 24 * 1024 * 1024
const OWN_MEMBERS = 1

/**
 * `images` is the requested number: if each has its own end event, the stream ends with the last.
 * `finished` is true after that event, or after `[DONE]` once there is an image.
 */
export function createImagesTap(images: number): Relay {
  return new ImagesTap(images)
}

class ImagesTap implements Relay {
  private readonly requestedImages: number
  private readonly filter: FrameFilter
  private images = 0
  private outputBytes = 0
  /** The last event that stated usage or the vendor's choices. */
  private usageEvent: unknown
  /** The event over the limit that is passing. */
  private large: { readonly name: string; readonly object: LargeObjectReader } | undefined
  private finished = false
  private error: ReportedError | undefined
  /** True once the gateway has written the last event in the upstream's place. */
  private isClosed = false

  constructor(requestedImages: number) {
    this.requestedImages = requestedImages
    this.filter = createFrameFilter({
      onFrame: (frame) => this.onFrame(frame),
      onOverflow: (piece, isLast) => this.onOverflow(piece, isLast),
      limitBytes: EVENT_LIMIT_BYTES,
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    return this.filter.push(chunk)
  }

  end(): Buffer | undefined {
    const rest = this.filter.end()
    // Fewer images than requested are an answer too, where their usage was stated.
    this.finished ||= this.usageEvent !== undefined
    const failed = this.takeFailed(UPSTREAM_ERROR)
    return rest && failed ? Buffer.concat([rest, failed]) : (failed ?? rest)
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    const isInside = this.filter.isInsideEvent()
    const failed = this.takeFailed({ type, message })
    return failed && isInside ? Buffer.concat([Buffer.from('\n\n'), failed]) : failed
  }

  report(): RelayReport {
    const { images, outputBytes, finished, error, usageEvent } = this
    const isStated = images > 0 || usageEvent !== undefined
    return {
      outputBytes,
      finished,
      ...(isStated ? readImageUsage(usageEvent, images) : {}),
      ...(error ? { error } : {}),
    }
  }

  private onFrame(frame: Buffer): Buffer | undefined {
    const event = readSseFrame(frame)
    if (!event) return frame
    if (this.finished) {
      this.keepUsage(parseEventData(event))
      return frame
    }
    if (event.data.trim() === '[DONE]') {
      this.finished = this.images > 0
      return frame
    }
    const data = parseEventData(event)
    const type = asString(member(data, 'type')) ?? event.event
    this.keepUsage(data)
    if (type.endsWith('.partial_succeeded')) this.take(data)
    else if (type.endsWith('.completed')) this.onCompleted(data)
    else {
      if (!type.endsWith('.partial_failed')) this.error = readImagesError(data) ?? this.error
      return hideInFrame(frame)
    }
    return frame
  }

  /** Reads the small members of a large event as it passes; its large one is the image. */
  private onOverflow(piece: Buffer, isLast: boolean): void {
    this.large ??= { name: readEventName(piece), object: createLargeObjectReader(OWN_MEMBERS) }
    const { name, object } = this.large
    const data = object.push(piece)
    if (isLast) this.large = undefined
    const type = data ? (asString(data.type) ?? name) : ''
    if (this.finished || !/\.(?:completed|partial_succeeded)$/.test(type)) return
    this.images += 1
    this.outputBytes += EVENT_LIMIT_BYTES
    if (!type.endsWith('.completed')) return
    this.usageEvent = data
    this.finished = this.images >= this.requestedImages
  }

  private onCompleted(data: unknown): void {
    const hasImage = isImage(data)
    if (hasImage) this.take(data)
    if (!data) return
    this.usageEvent = { ...withoutContent(data), ...usageOf(this.usageEvent) }
    this.finished = !hasImage || this.images >= this.requestedImages
  }

  /** Any event may state usage; the last one that does counts. */
  private keepUsage(data: unknown): void {
    const usage = usageOf(data)
    if (usage) this.usageEvent = { ...(isObject(this.usageEvent) ? this.usageEvent : {}), ...usage }
  }

  private take(image: unknown): void {
    this.images += 1
    this.outputBytes += countImageBytes(image)
  }

  /** Returns the error for the caller; undefined for a stream that has ended. */
  private takeFailed(error: ReportedError): Buffer | undefined {
    if (this.finished || this.error || this.isClosed) return undefined
    this.isClosed = true
    const { type, message, code = null } = error
    const failed = { type: 'error', error: { type, message, code, param: null } }
    return Buffer.from(encodeSseEvent('error', JSON.stringify(failed)))
  }
}

/** Returns the `event:` field at the beginning of an event; empty without one. */
function readEventName(piece: Buffer): string {
  const [, name = ''] = /^event:\s*([\w.]+)/.exec(piece.toString('latin1', 0, 100)) ?? []
  return name
}

function usageOf(data: unknown): { readonly usage: JsonObject } | undefined {
  const usage = member(data, 'usage')
  return isObject(usage) ? { usage } : undefined
}

/** The image data is not needed to determine the cost. */
function withoutContent(data: object): object {
  return { ...data, b64_json: undefined }
}
