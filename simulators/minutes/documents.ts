// The JSON files that a finished minutes task links to.
import type { Json } from '../kernel/checks.ts'
import { type Sentence, sentencesOf, sentenceText } from './recording.ts'
import type { MinutesRequest } from './request.ts'

/** Keyed by the name of the result field; only requested ones. */
export function documentsOf(request: MinutesRequest, seconds: number): Record<string, unknown> {
  const { language, speakers, summary, chapters, todos, questions, target } = request
  const sentences = sentencesOf(seconds, language, speakers)
  const extraction = {
    ...(todos ? { todo_list: [todoOf(sentences)] } : {}),
    ...(questions ? { question_answer: [questionOf(sentences)] } : {}),
  }
  return {
    AudioTranscriptionFile: sentences.map((sentence) => transcribed(sentence, request)),
    ...(summary ? { SummarizationFile: summaryOf(sentences) } : {}),
    ...(chapters ? { ChapterFile: { chapter_summary: chaptersOf(seconds) } } : {}),
    ...(todos || questions ? { InformationExtractionFile: extraction } : {}),
    ...(target === undefined
      ? {}
      : { TranslationFile: sentences.map((sentence) => translated(sentence, request, target)) }),
  }
}

function transcribed(sentence: Sentence, { language, identify, words }: MinutesRequest): Json {
  const spoken = sentence.words.map((word) => {
    return { text: word.text, start_time: word.startMs, end_time: word.endMs }
  })
  return {
    ...base(sentence),
    lang: language,
    content: sentence.text,
    // Both numbers and numeric strings have been observed.
    start_time: sentence.index % 2 === 0 ? sentence.startMs : String(sentence.startMs),
    channel_id: 0,
    ...(identify ? { speaker: speakerOf(sentence) } : {}),
    words: words ? spoken : null,
  }
}

function translated(sentence: Sentence, { language, identify }: MinutesRequest, target: string) {
  return {
    ...base(sentence),
    source_lang: language,
    target_lang: target,
    content: sentence.text,
    translation_content: sentenceText(sentence.index + 1, target),
    ...(identify ? { speaker: speakerOf(sentence) } : {}),
  }
}

function base({ index, startMs, endMs }: Sentence): Json {
  return { sentence_id: String(index), paragraph_id: '', start_time: startMs, end_time: endMs }
}

function speakerOf({ speaker }: Sentence): Json {
  return { id: String(speaker), name: `说话人${speaker}`, type: 101 }
}

function summaryOf(sentences: Sentence[]): Json {
  const paragraph = `${sentences.length} sentences were spoken.`
  return { title: 'A simulated recording', paragraph }
}

const CHAPTER_SECONDS = 600

function chaptersOf(seconds: number): Json[] {
  const count = Math.max(1, Math.ceil(seconds / CHAPTER_SECONDS))
  return Array.from({ length: count }, (_, index) => ({
    start_time: index * CHAPTER_SECONDS * 1000,
    end_time: Math.round(Math.min(seconds, (index + 1) * CHAPTER_SECONDS) * 1000),
    title: `Chapter ${index + 1}`,
    summary: `What is said in chapter ${index + 1}.`,
  }))
}

function todoOf(sentences: Sentence[]): Json {
  const content = 'Send the numbers to everybody.'
  return {
    content,
    execution_ddl: 'Friday',
    execution_time: [],
    executor: ['说话人1'],
    sentence_id: [Number(sentences[0]?.index ?? 0)],
    start_time: sentences[0]?.startMs ?? 0,
    todo_idx: 0,
    polished_res: { content, execution_ddl: 'Friday', executor: ['说话人1'] },
  }
}

function questionOf(sentences: Sentence[]): Json {
  return {
    question: 'How many sentences are there?',
    answer: `There are ${sentences.length}.`,
    question_time: sentences[0]?.startMs ?? 0,
    question_type: 'fact',
    sentence_id: [0],
  }
}
