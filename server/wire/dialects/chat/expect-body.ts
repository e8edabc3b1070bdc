/**
 * Upstreams that answer in the other form: one JSON document to a request for a stream, or a
 * stream to a request for a document. The first byte decides, whatever the headers state.
 */
import { beginsDocument } from '../begins-document.ts'
import { chainRelays } from '../chain.ts'
import type { Relay } from '../relay.ts'
import { createChatCollector } from './collect-stream.ts'
import type { ChatUsageOptions } from './read-usage.ts'
import { createChatUnfolder } from './unfold-body.ts'

/** Wraps a relay that reads chat streams: a JSON document is converted to a stream. */
export function expectStream(relay: Relay): Relay {
  return decideOnFirstByte(relay, (isJson) => {
    return isJson ? chainRelays(createChatUnfolder(), relay) : relay
  })
}

/**
 * Wraps a relay that reads a whole completion: a stream is collected into one document. Its usage
 * is read from the events, because the document has no place for some of it.
 */
export function expectWhole(relay: Relay, usage: ChatUsageOptions = {}): Relay {
  return decideOnFirstByte(relay, (isJson) => {
    if (isJson) return relay
    const collector = createChatCollector(usage)
    return {
      ...chainRelays(collector, relay),
      report() {
        const { outputBytes, finished, error } = relay.report()
        return { ...collector.report(), outputBytes, finished, ...(error ? { error } : {}) }
      },
    }
  })
}

/** `relay` stands in until the first byte decides which relay reads the answer. */
export function decideOnFirstByte(relay: Relay, decide: (isJson: boolean) => Relay): Relay {
  let target: Relay | undefined
  return {
    push(chunk) {
      if (target) return target.push(chunk)
      const isJson = beginsDocument(chunk)
      if (isJson === undefined) return relay.push(chunk)
      target = decide(isJson)
      return target.push(chunk)
    },
    end: () => (target ?? relay).end(),
    fail: (failure) => (target ?? relay).fail(failure),
    report: () => (target ?? relay).report(),
    heldBytes: () => (target ?? relay).heldBytes?.() ?? 0,
  }
}
