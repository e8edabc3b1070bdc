/** The members of text requests, which are refused in another letter case. */
import type { Body } from '../../../../work/pipeline/metering.ts'
import { listSpellings, refuseOtherCase } from '../../../../work/pipeline/request/spellings.ts'
import { PLAIN_CHAT, PLAIN_EMBEDDINGS, PLAIN_MESSAGES, PLAIN_RESPONSES } from './plain-members.ts'

/** Members with a price, or with references outside the body, which are not plain. */
const OTHERS = [
  'models',
  'plugins',
  'provider',
  'web_search_options',
  'enable_search',
  'search_parameters',
  'caching',
  'conversation',
  'prompt',
  'container',
  'mcp_servers',
  'fallbacks',
  'fallback_credit_token',
  'size',
  'quality',
  'style',
  'partial_images',
  'image',
  'images',
  'mask',
  'sequential_image_generation',
  'sequential_image_generation_options',
]
const SPELLINGS = listSpellings([
  ...PLAIN_CHAT,
  ...PLAIN_RESPONSES,
  ...PLAIN_MESSAGES,
  ...PLAIN_EMBEDDINGS,
  ...OTHERS,
])

/** Throws a 400 that names the first member of a text request in another letter case. */
export function refuseMisspelt(value: Body): void {
  refuseOtherCase(value, SPELLINGS)
}
