/** GET /healthz, /readyz, and the probe that some clients send when they start. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { PlainEndpoint } from '../endpoint.ts'

const status = z.object({ status: z.string() })

export const healthz: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/healthz', '/api/hello'],
  envelope: 'flat',
  documentation: {
    summary: 'Check liveness',
    description: 'Answers as long as this process runs, whatever its database does.',
    tag: 'Operations',
    answer: status,
  },
  async handle(context) {
    sendJson(context, 200, { status: 'ok' })
  },
}

export const readyz: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/readyz'],
  envelope: 'flat',
  documentation: {
    summary: 'Check readiness',
    description:
      '503 while this process should get no traffic: starting, stopping, or without its database.',
    tag: 'Operations',
    answer: status,
    errors: [503],
  },
  async handle(context, services) {
    const reason = await services.notReady()
    if (reason !== undefined) throw new GatewayError('unavailable', { message: reason })
    sendJson(context, 200, { status: 'ready' })
  },
}
