/** Which class a kind of first divergence is shown as. */
import { CauseClass } from '../core/colouring';

export const SIGN_OF_KIND: Readonly<Record<string, number>> = {
  parameter: CauseClass.parameter,
  introduced: CauseClass.introduced,
  nonfinite: CauseClass.introduced,
  gap: CauseClass.introduced,
};
