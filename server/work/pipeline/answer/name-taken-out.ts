/** Names the tools that were taken out of the request in the answer's headers, and counts them. */
import { printPath } from '../../../wire/dialects/cut-json.ts'
import { addIgnored } from '../../../wire/upstreams/ignored-header.ts'
import type { UpstreamAnswer } from '../../../wire/upstreams/upstream.ts'
import type { ToolOffer } from '../price/dimensions.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'

/** `endpoint` is its name in usage records; `later` runs work that only counts after the answer. */
export function nameTakenOut(
  answer: UpstreamAnswer,
  { takenOut, model }: Pick<ResolvedCall, 'takenOut' | 'model'>,
  endpoint: string,
  { metrics, takenOut: counter }: Pick<Services, 'metrics' | 'takenOut'>,
  later: (count: () => void) => void,
): UpstreamAnswer {
  if (!takenOut) return answer
  // An answer counts once for each kind, however many of a kind its request had.
  const kinds = listKinds(new Map(takenOut.map((offer) => [offer.kind, offer])).values())
  later(() => {
    counter.add(model.id, kinds)
    for (const { tool } of kinds) metrics.tookOut({ endpoint, model: model.id, tool })
  })
  const names = takenOut.map(({ path, name, tool }) => {
    return tool ? `${printPath(path)}=${name}` : name
  })
  return { ...answer, headers: addIgnored(answer.headers, names) }
}

function listKinds(offers: Iterable<ToolOffer>) {
  return [...offers].map(({ kind, unit = null }) => ({ tool: kind, unit }))
}
