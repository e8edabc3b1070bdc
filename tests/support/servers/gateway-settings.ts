/** Settings of gateways under test, in the process of the test or in one of their own. */

/**
 * For gateways on the server of the run: on a busy machine it may be slower than what a gateway
 * takes for an outage, and then a call waits and is not refused.
 */
export const PATIENT = { ADMIT_WAIT_SECONDS: '60' }

/** To look for ffmpeg takes 80 ms of a processor at each start: tests of conversions alone do. */
export const WITHOUT_PROGRAMS = { FFMPEG: 'off' }
