/** Refuses member names in another letter case: some vendors accept, and bill, them anyway. */
import { foldKey } from '../../../dialects/json-scan.ts'
import { invalidField } from '../../../lib/errors.ts'
import type { Body } from '../../../pipeline/metering.ts'
import { PLAIN_CHAT, PLAIN_EMBEDDINGS, PLAIN_MESSAGES, PLAIN_RESPONSES } from './plain-members.ts'

/** Members with a price, or with references outside the body, which are not plain. */
const OTHERS = [
  'models',
  'plugins',
  'provider',
  'web_search_options',
  'enable_search',
  'search_parameters',
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
const KNOWN: ReadonlySet<string> = new Set([
  ...PLAIN_CHAT,
  ...PLAIN_RESPONSES,
  ...PLAIN_MESSAGES,
  ...PLAIN_EMBEDDINGS,
  ...OTHERS,
])

/** Throws a 400 that names the first member whose name differs from a known one only in case. */
export function refuseMisspelt(value: Body): void {
  for (const name of Object.keys(value)) {
    if (KNOWN.has(name)) continue
    const known = foldKey(name)
    if (KNOWN.has(known)) throw invalidField(name, `the name of this field is '${known}'`)
  }
}
