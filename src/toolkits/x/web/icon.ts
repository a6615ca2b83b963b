import type { IconName } from '../../../web/ui/icon.tsx';

const icon: IconName = 'at';
export default icon;
