/** Operators: channels, described by each upstream's own settings schema. */
import { z } from 'zod'
import { decimalAmount } from '../../../endpoints/codecs.ts'
import { text, time } from '../../common-schemas.ts'
import { CREATES_ONLY, changesOnly } from '../../preconditions.ts'
import { area, type Routes } from '../../route.ts'

const channel = z.object({
  id: z.string(),
  upstream: z.string(),
  status: z.enum(['active', 'retired']),
  version: z.number(),
  source: z.string().describe('The catalog file that defines it, or `console`.'),
  health: z.object({
    state: z
      .enum(['untried', 'working', 'failing', 'cooling_down', 'over_cap', 'paused', 'unusable'])
      .describe(
        '`untried`: no call in the last 31 days. `working`, `failing`: by the last call. ' +
          'Channels in any other state are tried last, or not at all.',
      ),
    reason: z.string().nullable().describe('Reason for not working.'),
    cooldown_seconds: z.number().nullable(),
    last_success: time.nullable().describe('Accurate to the hour if it is long ago.'),
    failing_since: time.nullable().describe('The first failure after the last success.'),
    last_error: z
      .object({
        kind: z.string(),
        status: z.number().nullable().describe('The vendor’s HTTP status, if it answered.'),
        message: z.string().nullable(),
        at: time,
      })
      .nullable()
      .describe('The last failed attempt that this process has seen since its start.'),
  }),
  spending: z
    .array(
      z.object({
        period: z.enum(['day', 'month']),
        currency: z.string(),
        spent: decimalAmount.describe(
          'Upstream costs of its calls, or their charges where a cost is unknown.',
        ),
        cap: decimalAmount,
        resets_at: time,
      }),
    )
    .describe('Its spending caps by calendar day and month, UTC; figures are a few seconds old.'),
  paused_at: time.nullable().describe('A paused channel gets no new calls and tasks.'),
  models: z.array(z.string()).describe('Active models with a route to it.'),
  open_tasks: z.number(),
  updated_at: time,
})

const settings = z.record(z.string(), z.unknown())
const channelDetail = channel.extend({
  revision: z
    .string()
    .describe('Changes with each version of the channel, and while it is retired.'),
  settings: settings.describe('Secrets are masked.'),
  secrets: z.array(z.string()).describe('Write-only settings.'),
})

const upstream = z.object({
  name: z.string(),
  settings_schema: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema of a channel’s settings.'),
  secrets: z.array(z.string()),
  serves: z.array(z.string()).describe('Supported operations and kinds of tasks.'),
  lists_models: z.boolean().describe('Its vendors have a list of their models.'),
})

const shared = { role: 'operator', tag: 'Operators: channels' } as const

export const operatorChannelsContract = area(shared, {
  'GET /operator/upstreams': {
    summary: 'List the vendor protocols that a channel can speak',
    answer: z.object({ data: z.array(upstream) }),
  },
  'GET /operator/channels': {
    summary: 'List channels and their health',
    query: z.object({ retired: z.stringbool().default(false).describe('Include retired ones.') }),
    answer: z.object({ data: z.array(channel) }),
  },
  'GET /operator/channels/:channel_id': {
    summary: 'Get a channel with its settings',
    answer: channelDetail,
    errors: [404],
  },
  'PUT /operator/channels/:channel_id': {
    summary: 'Create a channel or change its settings',
    description:
      'Omitted secrets are kept. Every change creates a new version: open tasks keep the ' +
      `credentials that submitted them. ${CREATES_ONLY} ${changesOnly('`revision`')}`,
    errors: [409],
    body: z.strictObject({ upstream: text(100).min(1), settings }),
    stepUp: true,
    answer: channelDetail,
  },
  'DELETE /operator/channels/:channel_id': {
    summary: 'Retire a channel',
    description: 'Refused while a model has a route to it. Open tasks are still polled.',
    stepUp: true,
    errors: [404, 409],
  },
  'GET /operator/simulators': {
    summary: 'List the channels and models of the demo',
    answer: z.object({
      demo: z.boolean().describe('The gateway has no other channels: it is in demo mode.'),
      channels: z.array(z.string()),
      models: z.array(z.string()).describe('Models that only these channels serve.'),
    }),
  },
  'DELETE /operator/simulators': {
    summary: 'Retire the channels and models of the demo',
    description:
      'Records and balances stay. A gateway without channels of its own starts its next demo ' +
      'with them again.',
    stepUp: true,
  },
  'POST /operator/channels/:channel_id/test': {
    summary: 'Test a channel',
    description:
      'Validates the settings, resolves the address, connects to it and tries the key with a ' +
      'free request where the vendor has one. Nothing is purchased.',
    answer: z.object({
      ok: z.boolean(),
      steps: z.array(
        z.object({
          step: z.string(),
          ok: z.boolean(),
          detail: z.string(),
          milliseconds: z.number(),
        }),
      ),
    }),
    errors: [404],
  },
  'GET /operator/channels/:channel_id/models': {
    summary: 'List the models that the vendor of a channel offers',
    description: 'Asks the vendor, with the channel’s first key. Nothing is purchased.',
    answer: z.object({
      ok: z.boolean(),
      detail: z.string().describe('The address of the list, or why there is none.'),
      models: z.array(z.string()).describe('The vendor’s names, as `upstream_model` takes them.'),
    }),
    errors: [404],
  },
  'POST /operator/channels/:channel_id/pause': {
    summary: 'Pause a channel',
    description:
      'New calls and tasks use other routes; a model without another answers 503. Open tasks ' +
      'continue. Applying a catalog file does not resume it.',
    answer: channelDetail,
    errors: [404],
  },
  'POST /operator/channels/:channel_id/resume': {
    summary: 'Resume a paused channel',
    answer: channelDetail,
    errors: [404],
  },
  'POST /operator/channels/:channel_id/wake': {
    summary: 'End the cooldown of a channel',
    description: 'In every gateway, within seconds.',
    answer: channelDetail,
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
