/** The vendor protocols that a catalog can name: one line each. */
import { bedrock } from './anthropic/bedrock/index.ts'
import { anthropic } from './anthropic/index.ts'
import { anthropicVertex } from './anthropic/vertex/index.ts'
import { ark } from './ark/index.ts'
import { dashscope } from './dashscope/index.ts'
import { doubaoAst } from './doubao-ast/index.ts'
import { doubaoMinutes } from './doubao-minutes/index.ts'
import { doubaoRecognition } from './doubao-recognition/index.ts'
import { doubaoSpeech } from './doubao-speech/index.ts'
import { gemini } from './gemini/index.ts'
import { kling } from './kling/index.ts'
import { mediaTasks } from './media-tasks/index.ts'
import { mediakit } from './mediakit/index.ts'
import { minimax } from './minimax/index.ts'
import { openaiCompatible } from './openai-compatible/index.ts'
import { reranker } from './rerank/index.ts'
import { withSpendingCap } from './spending-cap.ts'
import type { Upstream } from './upstream.ts'
import { volcSearch } from './volc-search/index.ts'

const ALL: readonly Upstream[] = [
  openaiCompatible,
  anthropic,
  bedrock,
  anthropicVertex,
  gemini,
  ark,
  minimax,
  dashscope,
  kling,
  mediaTasks,
  mediakit,
  doubaoSpeech,
  doubaoMinutes,
  doubaoRecognition,
  doubaoAst,
  volcSearch,
  reranker,
]

/** The protocol of most channels. */
export const USUAL_UPSTREAM = openaiCompatible.name

export const UPSTREAMS: ReadonlyMap<string, Upstream> = new Map(
  ALL.map((upstream) => [upstream.name, withSpendingCap(upstream)]),
)
