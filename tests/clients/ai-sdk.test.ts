/** The AI SDK and four of its providers against the gateway and the simulators, unmodified. */

import { AI_SDK_CLIENTS } from './ai-sdk-clients.ts'
import { testClients } from './cases.ts'

testClients(AI_SDK_CLIENTS)
