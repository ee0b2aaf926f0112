// Runs the steps of the Dockerfile in folders, one for each stage, with the pinned Node instead of
// the image's. The result is what a container would see below its root.
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  readCopy,
  readDockerfile,
  readEnvironment,
  type Stage,
  type Step,
} from '../../support/dockerfile.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const NODE = '/usr/local/bin/node'
/** Installs all packages; a short run uses those of the repository instead. */
const WHOLE_INSTALL = /^npm ci (?!.*--omit)/

export type Image = {
  /** The folder that is the root of the last stage. */
  readonly root: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
}

export async function buildImage(folder: string, isFull: boolean): Promise<Image> {
  const text = await readFile(join(root, 'deploy/docker/Dockerfile'), 'utf8')
  const stages = readDockerfile(text)
  for (const stage of stages) await buildStage(stage, folder, isFull)
  const last = stages.at(-1) as Stage
  const of = (word: string) => last.steps.findLast((step) => step.word === word)?.rest ?? ''
  return {
    root: join(folder, last.name),
    directory: join(folder, last.name, of('WORKDIR')),
    environment: readEnvironment(last.steps),
    user: of('USER'),
  }
}

async function buildStage(stage: Stage, folder: string, isFull: boolean): Promise<void> {
  const place = { folder, top: join(folder, stage.name), directory: '/', isFull }
  await mkdir(place.top, { recursive: true })
  // Images of Node contain Node; that of Debian does not.
  if (stage.image.startsWith('node:')) await put(process.execPath, join(place.top, NODE))
  for (const step of stage.steps) {
    try {
      await perform(step, place)
    } catch (error) {
      throw new Error(`line ${step.line} of the Dockerfile: ${step.word}`, { cause: error })
    }
  }
}

type Place = { folder: string; top: string; directory: string; isFull: boolean }

async function perform({ word, rest }: Step, place: Place): Promise<void> {
  if (word === 'WORKDIR') {
    place.directory = rest
    await mkdir(join(place.top, rest), { recursive: true })
  } else if (word === 'COPY') await copy(rest, place)
  else if (word === 'RUN') await performRun(rest, place)
}

async function copy(rest: string, { folder, top, directory }: Place): Promise<void> {
  const { from, sources, target } = readCopy(rest)
  const base = from === undefined ? root : join(folder, from)
  const to = join(top, isAbsolute(target) ? target : resolve(directory, target))
  for (const source of sources) {
    const isInto = sources.length > 1 || target.endsWith('/')
    await put(join(base, source), isInto ? join(to, source) : to)
  }
}

async function put(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, { recursive: true, verbatimSymlinks: true })
}

async function performRun(command: string, { top, directory, isFull }: Place): Promise<void> {
  const cwd = join(top, directory)
  if (!isFull && WHOLE_INSTALL.test(command)) {
    await symlink(join(root, 'node_modules'), join(cwd, 'node_modules'))
    return
  }
  const path = [dirname(join(top, NODE)), process.env.PATH ?? ''].join(delimiter)
  const env = { PATH: path, HOME: process.env.HOME ?? '', npm_config_prefer_offline: 'true' }
  // Only root may change the owner of a file; for other users chown does nothing here.
  const whole = process.getuid?.() === 0 ? command : `chown() { :; }; ${command}`
  await run('sh', ['-c', whole], { cwd, env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 })
}
