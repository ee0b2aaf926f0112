// SIGHUP, which would end a process that does not handle it. `serve` replaces its processes;
// `work`, `cabinet` and `console` read their settings again: the level of the log changes at once,
// and a line of the log names the changed settings that need a restart.
import { type Config, changedSettings, type loadConfig } from './config.ts'
import type { Log } from './log.ts'

/**
 * From now on SIGHUP calls `act`, which does nothing until the program sets it: a SIGHUP while the
 * program starts must not end it.
 */
export function watchHangup(): { act(): void } {
  const hangup = { act: (): void => undefined }
  process.on('SIGHUP', () => hangup.act())
  return hangup
}

/** `config` is what the program runs with, `loaded` what its files say now. */
export function rereadSettings(
  { config, log }: { readonly config: Config; readonly log: Log },
  loaded: ReturnType<typeof loadConfig>,
): void {
  if ('problems' in loaded) {
    log.error({ problems: loaded.problems }, 'the settings are wrong; the old ones stay')
    return
  }
  const { level } = loaded.config.log
  log.setLevel(level)
  const needRestart = changedSettings(config, loaded).filter((one) => one !== 'log.level')
  log.info({ logLevel: level, needRestart }, 'the settings were read again')
}
