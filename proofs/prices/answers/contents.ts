/** The vendor's contents: running totals or one at the end, thoughts apart or inside. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { ABSENT, BENDS, bendUsage } from './bend.ts'
import { CUTS, cutScript } from './broken.ts'
import { dataEvent, EVENT_HEADERS, jsonScript, type Piece, type Script } from './script.ts'
import { type Json, shrink } from './usage.ts'

const WORDS = ['Danube', ', Niger', ', Mekong', '.']

export function answerContents(testCase: Case, work: Work, stream: boolean): Script {
  const { answer } = testCase
  const isBent = BENDS[answer.breakage ?? ''] !== undefined
  const full = usageOf(work, isBent ? 'no total' : answer.form, testCase.work.reasoning)
  const usage = bendUsage(testCase, full)
  const head = { modelVersion: 'pp-gemini-3', responseId: `r-${testCase.id}` }
  if (stream) return streamOf(testCase, head, full, usage)
  return jsonScript({
    ...head,
    candidates: [{ ...said(WORDS.join('')), finishReason: 'STOP' }],
    ...(usage === ABSENT ? {} : { usageMetadata: usage }),
  })
}

const said = (text: string) => ({ content: { role: 'model', parts: [{ text }] }, index: 0 })

function streamOf(testCase: Case, head: Json, full: Json, usage: unknown): Script {
  const { placement, breakage = '' } = testCase.answer
  const stated = (value: unknown) => (value === ABSENT ? {} : { usageMetadata: value })
  const pieces: Piece[] = WORDS.map((text, at) => {
    const sofar = placement === 'growing' ? shrink(full, at / WORDS.length) : undefined
    const traffic = placement === 'traffic' ? { trafficType: 'ON_DEMAND' } : undefined
    const early = sofar ?? traffic
    const candidates = [said(text)]
    return dataEvent({ ...head, candidates, ...(early ? { usageMetadata: early } : {}) })
  })
  if (breakage === 'an error event') {
    pieces.push(dataEvent({ error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }))
    return { status: 200, headers: EVENT_HEADERS, pieces }
  }
  const usageAt = pieces.length
  const end = { candidates: [{ finishReason: 'STOP', index: 0 }] }
  pieces.push(dataEvent({ ...head, ...end, ...stated(usage) }))
  if (placement === 'shrinking') pieces.push(dataEvent({ ...head, usageMetadata: shrink(full) }))
  const ending = pieces.length
  const script = { status: 200, headers: EVENT_HEADERS, pieces }
  const cut = CUTS[breakage]
  return cut ? cutScript(script, { content: 0, usage: usageAt, ending }, cut) : script
}

function usageOf({ counts }: Work, form: string, thoughts: number): Json {
  const count = (unit: string) => counts[unit] ?? 0
  const cached = count('cached_input_token')
  const [audio, image] = [count('audio_input_token'), count('image_input_token')]
  const input = count('input_token')
  const tools = form === 'tools' ? Math.floor(input / 3) : 0
  const prompt = input - tools + cached + audio + image
  const pictures = count('image_output_token')
  const candidates = count('output_token') - thoughts + pictures
  const details = [
    { modality: 'TEXT', tokenCount: prompt - audio - image },
    { modality: 'AUDIO', tokenCount: audio },
    { modality: 'IMAGE', tokenCount: image },
  ]
  const inside = form === 'inclusive' ? thoughts : 0
  const total = prompt + tools + candidates + thoughts
  // A total implies the parts that are not stated, so a wrong total comes with all parts.
  const isStated = form === 'lying total' || (thoughts > 0 && form !== 'thoughts in the total')
  return {
    promptTokenCount: prompt,
    ...(form === 'plain' ? { rawPromptTokenCount: prompt } : {}),
    candidatesTokenCount: candidates + inside,
    ...(isStated ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    ...(tools > 0 ? { toolUsePromptTokenCount: tools } : {}),
    ...(form === 'no total' ? {} : { totalTokenCount: form === 'lying total' ? total * 3 : total }),
    ...(audio + image > 0 ? { promptTokensDetails: details } : {}),
    ...(pictures > 0
      ? { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: pictures }] }
      : {}),
  }
}
