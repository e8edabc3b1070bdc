// A creation that the vendor has accepted and whose answer a proxy loses.
import { type Exchange, proxyPage, type WholeReply } from '../kernel/exchange.ts'

/** Returns a proxy's error page in place of the answer, if the scenario loses it. */
export function lostAnswer({ scenario }: Exchange): WholeReply | undefined {
  if (!scenario.has('lost-answer')) return undefined
  return { ...proxyPage(scenario.number('lost-answer') ?? 504), reason: 'the answer is lost' }
}
