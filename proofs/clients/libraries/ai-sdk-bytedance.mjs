/** @ai-sdk/bytedance: videos and pictures in ARK's own form. */
import { createByteDance } from '@ai-sdk/bytedance'
import { generateImage, experimental_generateVideo as generateVideo } from 'ai'
import { serveScenes } from './serve-scenes.mjs'

const connect = ({ url, key }) => createByteDance({ apiKey: key, baseURL: `${url}/api/v3` })

/** Returns the brand of the file, which begins in its fifth byte. */
async function makeVideo(scene, { prompt = scene.words, ...options } = {}) {
  const { video } = await generateVideo({
    model: connect(scene).video(scene.model),
    prompt,
    duration: 5,
    maxRetries: 0,
    providerOptions: { bytedance: { pollIntervalMs: 100, watermark: false } },
    download: async ({ url }) => {
      const response = await fetch(url)
      return { data: new Uint8Array(await response.arrayBuffer()), mediaType: 'video/mp4' }
    },
    ...options,
  })
  return Buffer.from(video.uint8Array).toString('latin1', 4, 12)
}

async function makeImage(scene, prompt) {
  const model = connect(scene).image(scene.model)
  const { image } = await generateImage({ model, prompt, size: '2048x2048', maxRetries: 0 })
  return image.mediaType
}

const pictureOf = ({ picture }) => `data:image/png;base64,${picture}`

serveScenes({
  video: (scene) => makeVideo(scene, { resolution: '1280x720', aspectRatio: '16:9' }),
  'video of a picture': (scene) =>
    makeVideo(scene, { prompt: { image: pictureOf(scene), text: scene.words } }),
  'video of MiniMax': (scene) => makeVideo(scene, { resolution: '2K' }),
  image: (scene) => makeImage(scene, scene.words),
  'edited image': (scene) => makeImage(scene, { text: scene.words, images: [pictureOf(scene)] }),
  'video without money': (scene) => makeVideo(scene),
})
