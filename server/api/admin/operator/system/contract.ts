/** Operators: the processes, the database and the configuration. */
import { z } from 'zod'
import { time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { role: 'operator', tag: 'Operators: system' } as const

export const operatorSystemContract = area(shared, {
  'GET /operator/system': {
    summary: 'Get the state of the gateway',
    answer: z.object({
      version: z.string(),
      started_at: time,
      node: z.string(),
      site: z.string(),
      public_url: z.string(),
      ready: z.boolean(),
      not_ready_reason: z.string().nullable(),
      memory_bytes: z.number(),
      calls_in_flight: z.number(),
      files_shared: z
        .boolean()
        .describe('False while live gateways keep files in different places.'),
      gateways: z.array(
        z.object({
          id: z.string(),
          address: z.string(),
          started_at: time,
          alive: z.boolean(),
          this: z.boolean(),
        }),
      ),
      database: z.object({
        version: z.string(),
        bytes: z.number(),
        connections: z.number(),
        tables: z.array(z.object({ name: z.string(), rows: z.number(), bytes: z.number() })),
        migrations: z.array(z.string()),
      }),
      configuration: z.array(
        z.object({
          name: z.string(),
          value: z.string().describe('The value in effect; a secret is masked.'),
          default: z.string(),
          changed: z.boolean().describe('True if the value differs from the default.'),
          description: z.string(),
        }),
      ),
    }),
  },
} as const satisfies Routes<keyof typeof shared>)
