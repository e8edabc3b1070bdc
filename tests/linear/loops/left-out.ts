/** Functions that take bytes, text, a document or nothing, are not called, and why. */
const BY_OTHERS = 'readers that are called use it'
const CONSTANT = 'it reads a bounded number of members'
const NO_READER = 'it makes what calls a vendor, whose readers are called'
const IS_STATE = 'it makes the state of a reader that is called'

export const LEFT_OUT: Readonly<Record<string, string>> = {
  checkRecording: CONSTANT,
  checkToolChoice: CONSTANT,
  countText: 'it takes the tokenizer of a thread of its own, and a bounded sample of the text',
  createAudioMeter: 'it reads audio and no list, and not at once',
  createChatUsageReader: BY_OTHERS,
  createFrameTemplate: BY_OTHERS,
  createItemCounter: BY_OTHERS,
  createJsonDepth: BY_OTHERS,
  createMessages: NO_READER,
  createMessagesUsageReader: BY_OTHERS,
  createResponses: NO_READER,
  createResponseUsageReader: BY_OTHERS,
  createMeasure: IS_STATE,
  createRepairState: IS_STATE,
  createToolCallTracker: IS_STATE,
  createToolMap: IS_STATE,
  createToolNames: IS_STATE,
  createSpeechMeter: 'it reads audio and no list',
  describeAnswerFormat: CONSTANT,
  hasOnly: BY_OTHERS,
  hasUsage: CONSTANT,
  readBlock: CONSTANT,
  readChatChunk: BY_OTHERS,
  requestsStream: CONSTANT,
}
