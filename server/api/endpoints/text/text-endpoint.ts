/**
 * Metered text endpoints: what all text dialects read, hold, document and charge in the same way.
 */
import { type ZodType, z } from 'zod'
import type { Envelope } from '../../../base/http/envelope.ts'
import type { Operation } from '../../../wire/upstreams/upstream.ts'
import type { Metering } from '../../../work/pipeline/metering.ts'
import { type Documentation, endpointNameOf, type MeteredEndpoint } from '../endpoint.ts'
import { takeOutTools } from './billing/take-out-tools.ts'
import {
  countInputCeiling,
  estimateText,
  quoteText,
  requestsStream,
  TEXT_BODY_BYTES_MAX,
  TEXT_NEEDS,
  type TextDialect,
} from './billing/text-billing.ts'
import { countCall } from './tokens/count-json.ts'

/** Text that a model generates is billed as far as it was delivered. */
const GENERATED = {
  needs: TEXT_NEEDS,
  takeOut: takeOutTools,
  fallback: (request, report) => estimateText(request.estimateInputTokens(), report),
  billsBroken: true,
} satisfies Partial<Metering>

/** An answer about the input, which is all that is billed. */
const ABOUT_INPUT = {
  needs: ['input_token'],
  fallback: (request, report) => ({
    input_token: report.counted?.input_token ?? request.estimateInputTokens(),
  }),
  billsBroken: false,
} satisfies Partial<Metering>

export interface TextDeclaration {
  /** The first is the canonical one; without the version it is the name in usage records. */
  readonly paths: readonly [string, ...string[]]
  readonly envelope?: Envelope
  readonly operation: Operation
  readonly schema: ZodType
  readonly dialect: TextDialect
  /** True if the answer contains no generated text, so that only the input is billed. */
  readonly isAboutInput?: true
  /** Members that this endpoint reads or bills in another way. */
  readonly metering?: Partial<Metering>
  /** The format of a streamed answer; absent: it is never streamed. */
  readonly stream?: string
  readonly documentation: Pick<Documentation, 'summary' | 'description' | 'headers' | 'query'> &
    Required<Pick<Documentation, 'answer' | 'example'>>
}

export function textEndpoint(declared: TextDeclaration): MeteredEndpoint {
  const { paths, envelope = 'nested', operation, schema, dialect, stream } = declared
  return {
    kind: 'metered',
    method: 'POST',
    paths,
    envelope,
    metering: {
      endpoint: endpointNameOf(paths[0]),
      operation,
      modelTypes: ['chat'],
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      takesPictures: true,
      schema,
      model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
      streams: stream === undefined ? () => false : requestsStream,
      inputTokens: (value, bodyBytes) => countInputCeiling(bodyBytes, dialect.measure(value)),
      quote: (request) => quoteText(request, dialect),
      count: ({ value }, answer) => countCall(value, dialect.measure(value).mediaTokens, answer),
      ...(declared.isAboutInput ? ABOUT_INPUT : GENERATED),
      passesRefusals: false,
      ...declared.metering,
    },
    documentation: {
      ...declared.documentation,
      tag: 'Text',
      ...(stream === undefined
        ? {}
        : { stream: { type: 'text/event-stream', description: stream } }),
    },
  }
}

/** The field in which callers list models. */
export const listedModels = z
  .array(z.string())
  .nullish()
  .describe(
    'Models to try in turn, after `model` if it is set. The call is charged at the price of the ' +
      'model that the header `x-tributary-model` names.',
  )
