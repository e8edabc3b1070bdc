/** The openai package against the gateway and the simulators, unmodified. */
import { testClients } from './cases.ts'
import { openaiChat, openaiResponses } from './openai-clients.ts'

testClients([openaiChat, openaiResponses])
