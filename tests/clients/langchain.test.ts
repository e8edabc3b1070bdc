/** LangChain.js against the gateway and the simulators, unmodified. */
import { testClients } from './cases.ts'
import { LANGCHAIN_CLIENTS } from './langchain-clients.ts'

testClients(LANGCHAIN_CLIENTS)
