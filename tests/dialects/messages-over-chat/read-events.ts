/** Reads a messages stream strictly: what is against the format's rules is a failed assertion. */
import assert from 'node:assert/strict'
import { isObject, type JsonObject } from '../../../server/base/lib/json.ts'
import { createSseParser } from '../../../server/wire/dialects/sse.ts'

export interface ReadBlock {
  readonly type: string
  readonly start: JsonObject
  /** The joined deltas. */
  content: string
}

export interface ReadMessage {
  readonly names: readonly string[]
  readonly message: JsonObject
  readonly blocks: readonly ReadBlock[]
  readonly stop: JsonObject
  readonly usage: JsonObject
  readonly error: JsonObject | undefined
}

const DELTAS: Record<string, { type: string; field: string }> = {
  text: { type: 'text_delta', field: 'text' },
  thinking: { type: 'thinking_delta', field: 'thinking' },
  tool_use: { type: 'input_json_delta', field: 'partial_json' },
}

/**
 * Exactly one start; blocks with contiguous indexes, one open at a time, one kind of delta each;
 * then exactly one message_delta and one message_stop, or an error and nothing after it.
 */
export function readEvents(body: string): ReadMessage {
  const events: JsonObject[] = []
  const parser = createSseParser({
    onEvent({ event, data }) {
      const parsed: unknown = JSON.parse(data)
      assert.ok(isObject(parsed))
      assert.equal(event, parsed.type, 'the event line repeats the type')
      events.push(parsed)
    },
  })
  parser.push(Buffer.from(body))
  parser.end()
  return new Reader().read(events)
}

class Reader {
  private readonly blocks: ReadBlock[] = []
  private open: ReadBlock | undefined
  private message: JsonObject = {}
  private stop: JsonObject = {}
  private usage: JsonObject = {}
  private error: JsonObject | undefined
  private place: 'before' | 'blocks' | 'stopped' | 'over' = 'before'

  read(events: readonly JsonObject[]): ReadMessage {
    for (const event of events) this.readOne(event)
    assert.equal(this.place, 'over', 'the stream has an ending')
    const { blocks, message, stop, usage, error } = this
    return { names: events.map(({ type }) => String(type)), message, blocks, stop, usage, error }
  }

  private readOne(event: JsonObject): void {
    switch (event.type) {
      case 'message_start':
        this.go('before', 'blocks')
        this.message = this.objectIn(event, 'message')
        return
      case 'content_block_start':
        this.readStart(event)
        return
      case 'content_block_delta':
        this.readDelta(event)
        return
      case 'content_block_stop':
        this.go('blocks', 'blocks')
        assert.ok(this.open, 'a block is open')
        assert.equal(event.index, this.blocks.length - 1)
        this.open = undefined
        return
      case 'message_delta':
        this.go('blocks', 'stopped')
        assert.equal(this.open, undefined, 'all blocks are closed')
        this.stop = this.objectIn(event, 'delta')
        this.usage = this.objectIn(event, 'usage')
        return
      case 'message_stop':
        this.go('stopped', 'over')
        return
      case 'error':
        assert.notEqual(this.place, 'over')
        this.place = 'over'
        this.error = this.objectIn(event, 'error')
        return
      default:
        assert.fail(`unknown event ${event.type}`)
    }
  }

  private readStart(event: JsonObject): void {
    this.go('blocks', 'blocks')
    assert.equal(this.open, undefined, 'one block at a time')
    assert.equal(event.index, this.blocks.length, 'indexes are contiguous')
    const start = this.objectIn(event, 'content_block')
    this.open = { type: String(start.type), start, content: '' }
    this.blocks.push(this.open)
  }

  private readDelta(event: JsonObject): void {
    this.go('blocks', 'blocks')
    assert.ok(this.open, 'a block is open')
    assert.equal(event.index, this.blocks.length - 1)
    const delta = this.objectIn(event, 'delta')
    const expected = DELTAS[this.open.type]
    assert.equal(delta.type, expected?.type, 'the delta is of the kind of its block')
    const text = delta[expected?.field ?? '']
    assert.ok(typeof text === 'string')
    this.open.content += text
  }

  private go(from: typeof this.place, to: typeof this.place): void {
    assert.equal(this.place, from)
    this.place = to
  }

  private objectIn(event: JsonObject, field: string): JsonObject {
    const value = event[field]
    assert.ok(isObject(value), `${event.type} has ${field}`)
    return value
  }
}
