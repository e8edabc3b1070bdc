/** A channel's settings at a reranker. */
import { z } from 'zod'
import { keySettings } from '../key-header.ts'
import { baseUrl, refuseVersionPath } from '../shared-settings.ts'
import { SHAPES } from './shapes.ts'

const names = Object.keys(SHAPES) as [keyof typeof SHAPES, ...(keyof typeof SHAPES)[]]

export const rerankSettings = z
  .strictObject({
    /** The form of requests and answers. vLLM and most others have that of `jina`. */
    shape: z.enum(names),
    /** Without the version path; by default the vendor's own. */
    base_url: baseUrl().optional(),
    ...keySettings,
    /** The most calls at once in each gateway; more go to another route. */
    max_concurrent_calls: z.int().positive().optional(),
  })
  .refine(({ shape, base_url: url }) => url !== undefined || 'baseUrl' in SHAPES[shape], {
    path: ['base_url'],
    error: 'missing: this shape has no vendor of its own',
  })
  .superRefine(({ shape, base_url: url }, context) => {
    // The path of this one has no version.
    const message = shape === 'tei' ? undefined : refuseVersionPath(url)
    if (message) context.addIssue({ code: 'custom', path: ['base_url'], message })
  })

export type RerankSettings = z.infer<typeof rerankSettings>
