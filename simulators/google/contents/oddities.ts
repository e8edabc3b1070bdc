// Ways in which the vendor's answers differ from the plain one, each of them documented or
// observed. They do not change the book, except where an answer has more parts.
import { isObject, type Json } from '../../kernel/checks.ts'
import { flag } from '../../kernel/scenario-names.ts'

export const CONTENTS_SCENARIOS = [
  flag('g_picture', 'gemini: the answer has a picture'),
  flag('g_tooluse', 'gemini: a tool brought 512 tokens into the prompt'),
  flag('g_noids', 'gemini: calls have no ids'),
  flag('g_blocked', 'gemini: the prompt is blocked, with usage and without candidates'),
  flag('g_malformed', 'gemini: the answer ends with MALFORMED_FUNCTION_CALL'),
  flag('g_recitation', 'gemini: the answer is stopped for RECITATION'),
  flag('g_quotes', 'gemini: the answer quotes a work'),
  flag('g_unknownend', 'gemini: the answer ends with a reason that nobody knows'),
  flag('g_continuation', 'gemini: the answer goes on in another request'),
  flag('g_latefinish', 'gemini: the reason comes in a piece of its own'),
  flag('g_emptystop', 'gemini: an empty piece with STOP comes first'),
  flag('g_usagelast', 'gemini: the usage comes alone, in the last piece'),
  flag('g_traffic', 'gemini: pieces but the last state the kind of traffic alone'),
  flag('g_early', 'gemini: pieces but the last state two tokens more of the prompt'),
  flag('g_marklast', 'gemini: the signature of the text is on an empty part at the end'),
  flag('g_inclusive', 'gemini: candidates contain the thoughts'),
  flag('g_totallies', 'gemini: the total is three times as large'),
  flag('g_nototal', 'gemini: there is no total'),
  flag('g_nodetails', 'gemini: no usage by modality'),
  flag('g_usage', 'gemini: embeddings state their tokens'),
  flag('g_fast', 'gemini: served as priority'),
]

/** Changes what the usage says. */
export function oddUsage(usage: Json, has: (name: string) => boolean): Json {
  let odd: Json = { ...usage }
  if (has('g_inclusive')) {
    const { thoughtsTokenCount: thoughts = 0, candidatesTokenCount: candidates = 0 } = odd
    odd.candidatesTokenCount = Number(candidates) + Number(thoughts)
  }
  if (has('g_totallies')) odd.totalTokenCount = Number(odd.totalTokenCount) * 3
  if (has('g_nototal')) odd = without(odd, 'totalTokenCount')
  if (has('g_nodetails'))
    odd = Object.fromEntries(Object.entries(odd).filter(([, value]) => !Array.isArray(value)))
  if (has('g_fast')) odd.serviceTier = 'priority'
  return odd
}

function without(json: Json, ...names: string[]): Json {
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)))
}

/** Changes the pieces of a stream. */
export function oddPieces(pieces: Json[], has: (name: string) => boolean): Json[] {
  let odd = pieces
  const last = pieces.at(-1) ?? {}
  if (has('g_emptystop')) {
    odd = [{ candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] }, ...odd]
  }
  if (has('g_latefinish')) odd = [...odd.slice(0, -1), unfinished(last), finishAlone(last)]
  if (has('g_usagelast')) {
    const { usageMetadata, ...rest } = odd.at(-1) ?? {}
    odd = [...odd.slice(0, -1).map((one) => without(one, 'usageMetadata')), rest, { usageMetadata }]
  }
  if (has('g_early')) odd = odd.map((one, at) => (at === odd.length - 1 ? one : estimated(one)))
  if (has('g_traffic')) {
    odd = odd.map((one, at) =>
      at === odd.length - 1 ? one : { ...one, usageMetadata: { trafficType: 'ON_DEMAND' } },
    )
  }
  return odd
}

function estimated(piece: Json): Json {
  const usage = isObject(piece.usageMetadata) ? piece.usageMetadata : {}
  const { promptTokenCount: prompt, totalTokenCount: total } = usage
  const counts = { promptTokenCount: Number(prompt) + 2, totalTokenCount: Number(total) + 2 }
  return { ...piece, usageMetadata: { ...usage, ...counts } }
}

const candidateOf = (piece: Json): Json => {
  const [first] = Array.isArray(piece.candidates) ? piece.candidates : []
  return isObject(first) ? first : {}
}

function unfinished(piece: Json): Json {
  return { ...piece, candidates: [without(candidateOf(piece), 'finishReason')] }
}

function finishAlone(piece: Json): Json {
  return { ...piece, candidates: [without(candidateOf(piece), 'content', 'groundingMetadata')] }
}
