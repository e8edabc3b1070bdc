/** A gateway in the process of its test, with the settings that one of its own process has. */
import { loadConfig } from '../../../server/api/config/config.ts'
import { serve } from '../../../server/main.ts'
import { type GatewayPlace, gatewayEnvironment, type RunningGateway } from '../gateway.ts'

/**
 * For tests that are about what a gateway answers: a start as a process takes eight times the
 * processor time. It cannot be killed, and shows the variables of this process for its own.
 */
export async function serveHere(place: GatewayPlace): Promise<RunningGateway> {
  // It would log into the output of its test.
  const silent = { ...place, env: { LOG_LEVEL: 'silent', ...place.env } }
  const config = loadConfig(gatewayEnvironment(silent, 0))
  const gateway = await serve({ ...config, warmsUp: false })
  return {
    url: gateway.url,
    hasExited: () => false,
    stop: (drainMs = 0) => gateway.stop({ drainMs }),
  }
}
