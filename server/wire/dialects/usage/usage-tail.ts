/**
 * Holds back the last usage of an event stream, and what follows it, until the charge is known. All
 * other events pass at once, as the bytes they are.
 */
import { createSseSplitter } from '../sse.ts'
import {
  type CostFigure,
  hasUsage,
  readEvent,
  readUsageEvent,
  stateCostInFrame,
  type UsagePlace,
} from './state-cost.ts'

/** The last usage is followed by a few events without content. */
const TAIL_BYTES_MAX = 256 * 1024

export class UsageTail {
  private readonly place: UsagePlace
  private readonly splitter
  private ready: Buffer[] = []
  /** The event with the last usage so far, and those behind it. */
  private tail: Buffer[] = []
  private tailBytes = 0
  private isOver = false

  constructor(place: UsagePlace) {
    this.place = place
    this.splitter = createSseSplitter({
      onFrame: (frame) => this.onFrame(frame),
      onOverflow: (piece) => {
        this.letGo()
        this.ready.push(piece)
      },
    })
  }

  /** Adds bytes for the caller. Returns those that may be sent now, in order. */
  push(bytes: Buffer): Buffer {
    this.splitter.push(bytes)
    return this.takeReady()
  }

  /** Returns what was held back, with the figure in the last usage; undefined: without any. */
  end(figure: CostFigure | undefined): Buffer {
    if (this.isOver) return Buffer.alloc(0)
    this.isOver = true
    this.splitter.end()
    this.letGo(figure)
    return this.takeReady()
  }

  heldBytes(): number {
    return this.tailBytes + this.splitter.heldBytes()
  }

  private onFrame(frame: Buffer): void {
    const event = readUsageEvent(frame)
    const { path } = this.place
    if (event && hasUsage(event, path)) {
      this.letGo()
      if (this.place.kindOf(event) === 'last') this.hold(frame)
      else this.ready.push(stateCostInFrame(frame, path, undefined))
      return
    }
    if (this.tail.length === 0) {
      this.ready.push(frame)
      return
    }
    this.hold(frame)
    const next = event ?? readEvent(frame)
    const isOutput = next !== undefined && this.place.kindOf(next) === 'output'
    if (isOutput || this.tailBytes > TAIL_BYTES_MAX) this.letGo()
  }

  private hold(frame: Buffer): void {
    this.tail.push(frame)
    this.tailBytes += frame.length
  }

  private letGo(figure?: CostFigure): void {
    const [usage, ...behind] = this.tail
    if (!usage) return
    this.ready.push(stateCostInFrame(usage, this.place.path, figure), ...behind)
    this.tail = []
    this.tailBytes = 0
  }

  private takeReady(): Buffer {
    const { ready } = this
    this.ready = []
    return ready.length === 1 && ready[0] ? ready[0] : Buffer.concat(ready)
  }
}
