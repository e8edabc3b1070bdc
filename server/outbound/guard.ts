/**
 * The one guard of every URL that a caller gives: it judges the text, then what the host resolves
 * to, then the address that is connected to. A redirect is an answer to a request; a download may
 * be led on, and every further URL is judged like the first.
 */
import type { AddressPolicy } from './address.ts'
import { type Download, type DownloadRequest, downloadGuarded } from './download.ts'
import { readUrl } from './read-url.ts'
import { type OutboundRequest, type OutboundResult, sendGuarded } from './request.ts'
import { type Resolve, resolveByDns } from './resolve.ts'
import { resolveOutboundTarget } from './target.ts'

export interface GuardOptions {
  /** Read for every URL: demo mode begins after the start. */
  readonly policy: () => AddressPolicy
  /** Replaces DNS in tests. */
  readonly resolve?: Resolve
}

export interface Guard {
  /** Why a URL may not be used, by its text alone; undefined when nothing speaks against it. */
  readUrl(text: string): string | undefined
  /**
   * Why a URL may not be used, by what it resolves to as well; undefined when it may. A host that
   * does not resolve now is let through: it is judged again whenever it is used.
   */
  checkUrl(text: string): Promise<string | undefined>
  /** Sends one request to a caller's URL. Never rejects. */
  request(request: OutboundRequest): Promise<OutboundResult>
  /** Begins to read what a URL leads to. Never rejects; what was answered must be closed. */
  download(request: DownloadRequest): Promise<Download>
}

const CHECK_MS = 2_000

export function createGuard({ policy, resolve = resolveByDns }: GuardOptions): Guard {
  return {
    readUrl(text) {
      const read = readUrl(text, policy())
      return 'refusal' in read ? read.refusal : undefined
    },
    async checkUrl(text) {
      const found = await resolveOutboundTarget(
        text,
        policy(),
        resolve,
        AbortSignal.timeout(CHECK_MS),
      )
      return 'refusal' in found ? found.refusal : undefined
    },
    request: (request) => sendGuarded(request, policy(), resolve),
    download: (request) => downloadGuarded(request, policy(), resolve),
  }
}
