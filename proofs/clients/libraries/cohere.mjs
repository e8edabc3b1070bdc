/** cohere-ai: documents by relevance, on both of the vendor's paths. */
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import { serveScenes } from './serve-scenes.mjs'

async function rank(Client, { url, key, model, words }) {
  const client = new Client({ token: key, environment: url })
  const documents = ['a mountain', words, 'the sea']
  const { results } = await client.rerank({ model, query: words, documents, topN: 2 })
  return results.map(({ index, relevanceScore }) => relevanceScore >= 0 && documents[index])[0]
}

serveScenes({
  ranking: (scene) => rank(CohereClientV2, scene),
  'ranking on the first path': (scene) => rank(CohereClient, scene),
})
