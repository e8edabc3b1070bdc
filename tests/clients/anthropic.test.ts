/** The messages SDK, two versions of it, against the gateway and the simulators, unmodified. */

import { anthropicCurrent, anthropicOlder } from './anthropic-clients.ts'
import { testClients } from './cases.ts'

testClients([anthropicCurrent, anthropicOlder])
