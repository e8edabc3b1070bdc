/**
 * Watches a stream of images for a caller of the same dialect: events pass as their original bytes;
 * usage, finished images and the protocol's own end are read on the way.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { createFrameFilter, type FrameFilter, isForeign } from '../frame-filter.ts'
import { hideInFrame } from '../hide-error.ts'
import { createLargeObjectReader, type LargeObjectReader } from '../large-object.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent, readSseFrame } from '../sse.ts'
import type { UsageReading } from '../usage/usage-reading.ts'
import {
  countImageBytes,
  isImage,
  readGenerated,
  readImagesError,
  readImageUsage,
} from './read-answer.ts'
import { SeveralUsages } from './several-usages.ts'

/** Larger events pass without being held: images have any size. */
const EVENT_LIMIT_BYTES = 24 * 1024 * 1024
const OWN_MEMBERS = 1
/** More than one size is charged as `several`, whichever sizes they are. */
const SIZES_MAX = 2

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
  /** Sizes of the images so far, as their events state them. */
  private readonly sizes = new Set<string>()
  private images = 0
  private hasPreview = false
  private outputBytes = 0
  /** Usage as the last events stated it, and the vendor's choices. */
  private stated: JsonObject | undefined
  private readonly usages = new SeveralUsages()
  /** The reading of it, until something else is stated. */
  private reading: UsageReading | undefined
  /** The event over the limit that is passing. */
  private large: { readonly name: string; readonly object: LargeObjectReader } | undefined
  private finished = false
  private error: ReportedError | undefined
  /** True once the gateway has written the last event instead of the upstream. */
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
    // Fewer images than requested also count as an answer, if their usage was stated.
    this.finished ||= this.stated !== undefined
    const failed = this.takeFailed(UPSTREAM_ERROR)
    if (failed && this.images === 0) this.error = UPSTREAM_ERROR
    return rest && failed ? Buffer.concat([rest, failed]) : (failed ?? rest)
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    const isInside = this.filter.isInsideEvent()
    const failed = this.takeFailed({ type, message })
    return failed && isInside ? Buffer.concat([Buffer.from('\n\n'), failed]) : failed
  }

  heldBytes(): number {
    return this.filter.heldBytes()
  }

  report(): RelayReport {
    const { images, outputBytes, finished, error, stated, hasPreview: mayBeBilled } = this
    const isStated = images > 0 || stated !== undefined
    if (isStated) this.reading ??= readImageUsage(this.withSizes(stated), images)
    return { outputBytes, finished, ...this.reading, ...(error ? { mayBeBilled, error } : {}) }
  }

  /** Adds the sizes of images as a whole answer states them: with each image. */
  private withSizes(stated: JsonObject | undefined): JsonObject | undefined {
    if (this.sizes.size === 0) return stated
    return { ...stated, data: [...this.sizes].map((size) => ({ size, url: size })) }
  }

  private onFrame(frame: Buffer): Buffer | undefined {
    const event = readSseFrame(frame)
    if (!event) return isForeign(frame) ? undefined : frame
    if (this.finished) {
      this.keepUsage(parseEventData(event))
      return frame
    }
    if (event.data.trim() === '[DONE]') {
      this.finished = this.images > 0
      return this.finished || this.stated ? frame : undefined
    }
    const data = parseEventData(event)
    if (!data && this.images === 0) return undefined
    const type = asString(member(data, 'type')) ?? event.event
    if (isPreview(type)) this.addPreview()
    if (!type.endsWith('.completed')) this.keepUsage(data)
    if (type.endsWith('.partial_succeeded')) this.take(data)
    else if (type.endsWith('.completed')) this.onCompleted(data)
    else {
      if (!type.endsWith('.partial_failed')) this.error = readImagesError(data) ?? this.error
      return hideInFrame(frame)
    }
    return frame
  }

  /** Reads the small members of a large event as it passes; the large member is the image. */
  private onOverflow(piece: Buffer, isLast: boolean): void {
    this.large ??= { name: readEventName(piece), object: createLargeObjectReader(OWN_MEMBERS) }
    const { name, object } = this.large
    const data = object.push(piece)
    if (isLast) this.large = undefined
    const type = data ? (asString(data.type) ?? name) : ''
    if (isPreview(type)) this.addPreview()
    if (this.finished || !/\.(?:completed|partial_succeeded)$/.test(type)) return
    this.addImage(EVENT_LIMIT_BYTES, data)
    if (!data || !type.endsWith('.completed')) return
    this.state(data, this.mergeUsage(data, true))
    this.finished = this.images >= this.requestedImages
  }

  private onCompleted(data: unknown): void {
    const hasImage = isImage(data)
    if (hasImage) this.take(data)
    if (!isObject(data)) return
    this.state(data, this.mergeUsage(data, hasImage))
    this.finished = !hasImage || this.images >= this.requestedImages
  }

  /** Any event may state usage. */
  private keepUsage(data: unknown): void {
    const usage = this.mergeUsage(data, false)
    if (usage) this.state({ ...this.stated }, usage)
  }

  /** Any event but an image's own end states the usage of all images so far. */
  private mergeUsage(data: unknown, hasImage: boolean): JsonObject | undefined {
    const usage = member(data, 'usage')
    if (isObject(usage)) {
      const isOwn = hasImage && this.requestedImages > 1 && readGenerated(data) === undefined
      if (isOwn) this.usages.addOwn(usage)
      else this.usages.addTotal(usage)
    }
    return this.usages.read()
  }

  private state(stated: JsonObject, usage: JsonObject | undefined): void {
    this.stated = { ...pickStated(stated), ...(usage ? { usage } : {}) }
    this.reading = undefined
  }

  private addPreview(): void {
    this.hasPreview = true
    this.usages.addPreview()
  }

  private take(image: unknown): void {
    this.addImage(countImageBytes(image), image)
  }

  private addImage(bytes: number, image: unknown): void {
    this.images += 1
    const size = asString(member(image, 'size'))
    if (size !== undefined && this.sizes.size < SIZES_MAX) this.sizes.add(size)
    this.outputBytes += bytes
    this.reading = undefined
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

function isPreview(type: string): boolean {
  return type.endsWith('.partial_image')
}

/** Members of an event that say how the image was made. */
const STATED = ['usage', 'size', 'quality', 'style', 'service_tier', 'tool_usage', 'model'] as const

function pickStated(data: JsonObject): JsonObject {
  return Object.fromEntries(STATED.flatMap((name) => (name in data ? [[name, data[name]]] : [])))
}
